#pragma once
// What an answer depends on, besides the settings and what is installed.

#include <set>
#include <string>

#include "installer/environment/environment.h"
#include "session/session.h"
#include "session/workspace.h"

namespace axle::session {

/// Where `environment`, which --python, VIRTUAL_ENV or the working folder gave, was looked for: a
/// link may lead elsewhere later, and a nearer one may be made. Empty: not only in such places, or
/// it is no virtual environment.
[[nodiscard]] std::set<std::string> environment_places(const Session& session,
                                                       const installer::Environment& environment);

/// Attestations are asked for, byte code is compiled, or requirements come from a server or stdin.
[[nodiscard]] bool looks_at_more_than_files(const Workspace& workspace);

}  // namespace axle::session
