#pragma once
// Where this program's own libraries lie. The program is started again in the sandbox, for shared
// objects: what it needs may lie in no folder that plugins read, and be found by an LD_LIBRARY_PATH
// that they do not see.

#include <span>
#include <string>
#include <vector>

namespace axle::plugins {

/// The files of the libraries that this process has loaded, absolute.
[[nodiscard]] std::vector<std::string> loaded_libraries();

/// LD_LIBRARY_PATH with the folders of `libraries` where the loader does not look by itself; empty:
/// there are none.
[[nodiscard]] std::string library_path_of(std::span<const std::string> libraries);

}  // namespace axle::plugins
