#pragma once
// Which versions a project would get of what is to be added to it.

#include <map>
#include <string>
#include <vector>

#include "session/command_failure.h"
#include "session/projects/project.h"
#include "session/session.h"

namespace axle::session {

/// The versions, by normalised name, that `requirements` (PEP 508) come to beside the dependencies
/// of the project, for the machine and the interpreter that `session` is about. What a marker
/// leaves out here has none. Errors: as of resolving.
[[nodiscard]] Outcome<std::map<std::string, std::string, std::less<>>> chosen_versions(
    Session& session, const Project& project, const std::vector<std::string>& requirements);

}  // namespace axle::session
