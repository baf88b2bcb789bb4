#pragma once
// Where this program's own libraries are. The program is started again in the sandbox, for shared
// objects: its libraries may be in folders that plugins cannot read, or be found through an
// LD_LIBRARY_PATH that they do not see.

#include <span>
#include <string>
#include <vector>

namespace axle::plugins {

/// The files of the libraries that this process has loaded, absolute.
[[nodiscard]] std::vector<std::string> loaded_libraries();

/// LD_LIBRARY_PATH with the folders of `libraries` that the loader does not search by default;
/// empty: there are none.
[[nodiscard]] std::string library_path_of(std::span<const std::string> libraries);

}  // namespace axle::plugins
