#pragma once
// Where driver libraries lie, told by file names alone: whether asking a vendor is worth a child
// process.

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

/// The first file of that name in LD_LIBRARY_PATH; empty when there is none.
[[nodiscard]] std::string find_on_library_path(Host& host, std::string_view file);

/// The same in LD_LIBRARY_PATH, the folders above, and the loader's cache (which is only searched
/// for the name, so that the answer may be the bare name).
[[nodiscard]] std::string find_library(Host& host, std::string_view file);

}  // namespace axle::detect
