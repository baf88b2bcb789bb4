#pragma once
// The variables of this program's environment that a build may read: a project's CMakeLists.txt or
// setup.py asks for any of them.

#include <string>
#include <utility>
#include <vector>

namespace axle::session {

/// By name. Without those that say from where a build was started, and not what is built: another
/// terminal or another run of a CI job would build everything anew.
[[nodiscard]] std::vector<std::pair<std::string, std::string>> build_variables();

}  // namespace axle::session
