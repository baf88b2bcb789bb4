#pragma once
// Sources that a lock names are built where they are installed. What is built there is compared
// with what is locked: a folder may have changed since, and metadata may have lied.

#include <string>
#include <vector>

#include "foundation/report/report.h"
#include "plan/lock/lock.h"
#include "session/command_failure.h"
#include "session/projects/project.h"
#include "session/workspace.h"

namespace axle::session {

/// That `locked`, named by its place, may be built: the project names it, by a URL or in
/// [tool.uv.sources], or the user consents to its build. Error: conflict, if only the metadata of
/// another package names it.
[[nodiscard]] Outcome<void> check_consent(const plan::LockedPackage& locked, const Project& project,
                                          const Workspace& workspace);

/// That the wheel `built` has the version of `locked`, and needs nothing but `packages`. Of a
/// folder, which may change at any time, a difference is a warning. Error: mismatch.
[[nodiscard]] Outcome<void> check_built(const plan::LockedPackage& locked,
                                        const plan::ResolvedPackage& built,
                                        const std::vector<plan::ReachedPackage>& packages,
                                        Workspace& workspace, Report& report);

}  // namespace axle::session
