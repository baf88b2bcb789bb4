#pragma once
// Where driver libraries are, determined from file names only: whether querying a vendor is worth a
// child process, and which files its answer depends on.

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "detect/host.h"

namespace axle::detect {

/// The folders where vendors and distributions install user-mode drivers, in addition to the
/// loader's own path.
[[nodiscard]] std::span<const std::string_view> system_library_folders();

/// The folders of an LD_LIBRARY_PATH (ld.so(8): separated by colons or semicolons); an empty part
/// is the current folder, "."; an empty path has none. Pieces of `path`.
[[nodiscard]] std::vector<std::string_view> split_library_path(std::string_view path);

/// Searches for libraries by name in LD_LIBRARY_PATH, the folders above and the loader's cache, in
/// that order. Reads the environment once, and the cache once if needed.
class LibrarySearch {
 public:
  /// `host` must outlive this.
  explicit LibrarySearch(Host& host);

  /// The first file of that name in LD_LIBRARY_PATH; empty if there is none.
  [[nodiscard]] std::string find_on_path(std::string_view file) const;
  /// The first of all; empty if there is none.
  [[nodiscard]] std::string find(std::string_view file);
  /// All of them, each path once.
  [[nodiscard]] std::vector<std::string> find_all(std::string_view file);

 private:
  [[nodiscard]] std::string find_in_folders(std::string_view file) const;
  [[nodiscard]] std::vector<std::string> find_in_cache(std::string_view file);

  Host& host_;
  std::string library_path_;
  std::optional<std::string> cache_;
};

}  // namespace axle::detect
