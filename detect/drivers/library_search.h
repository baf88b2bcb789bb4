#pragma once
// Where driver libraries lie, told by file names alone: whether asking a vendor is worth a child
// process, and which files its answer depends on.

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "detect/host.h"

namespace axle::detect {

/// The folders in which vendors and distributions put user-mode drivers, besides the loader's own
/// path.
[[nodiscard]] std::span<const std::string_view> system_library_folders();

/// The folders of an LD_LIBRARY_PATH (ld.so(8): apart by colons or semicolons); an empty part is
/// the current folder, "."; an empty path has none. Pieces of `path`.
[[nodiscard]] std::vector<std::string_view> split_library_path(std::string_view path);

/// Looks for libraries by name in LD_LIBRARY_PATH, the folders above and the loader's cache, in
/// that order. Reads the environment once, and the cache once where it comes to it.
class LibrarySearch {
 public:
  /// `host` must outlive this.
  explicit LibrarySearch(Host& host);

  /// The first file of that name in LD_LIBRARY_PATH; empty when there is none.
  [[nodiscard]] std::string find_on_path(std::string_view file) const;
  /// The first of all; empty when there is none.
  [[nodiscard]] std::string find(std::string_view file);
  /// Every one, each path once.
  [[nodiscard]] std::vector<std::string> find_all(std::string_view file);

 private:
  [[nodiscard]] std::string find_in_folders(std::string_view file) const;
  [[nodiscard]] std::vector<std::string> find_in_cache(std::string_view file);

  Host& host_;
  std::string library_path_;
  std::optional<std::string> cache_;
};

}  // namespace axle::detect
