#pragma once
// Solves the classes of a project, those that have all but the machine in common by one solver.

#include <functional>
#include <map>
#include <string>
#include <vector>

#include "foundation/report/report.h"
#include "plan/lock/lock.h"
#include "session/command_failure.h"
#include "session/fleet_wishes.h"
#include "session/projects/project.h"
#include "session/session.h"
#include "session/workspace.h"

namespace axle::session {

/// By normalised name, the first before the others.
using PreferredVersions = std::map<std::string, std::vector<wheel::Version>, std::less<>>;

/// One answer a class, in the project's order. `preferred_of`: what each class keeps of versions
/// where it can. Errors: what resolving says, with the class; exit code 3 where nothing fits one,
/// or nothing within its budget.
[[nodiscard]] Outcome<std::vector<plan::ClassAnswer>> lock_classes(
    Session& session, const Project& project, Workspace& workspace,
    const std::function<PreferredVersions(const MachineClass&)>& preferred_of,
    const FleetWishes& wishes, Report& report);

}  // namespace axle::session
