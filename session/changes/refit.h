#pragma once
// install --refit: what is installed, chosen again for the machine.

#include <vector>

#include "foundation/report/report.h"
#include "installer/environment/installed.h"
#include "resolver/request/requests.h"
#include "resolver/request/target.h"
#include "session/command_failure.h"
#include "session/workspace.h"

namespace axle::session {

/// Requests for the installed packages of which another build would be chosen for `target`: in
/// their version where that has one, else in the newest that has. Packages of which nothing is
/// known but their files, from a path or a URL, are left as they are; so are those without any
/// build for `target`, with a warning.
///
/// The names that `workspace` requests, if any, are the only ones that count. Afterwards its
/// options allow the changes. Errors: usage for a name that is not installed; what cannot be read;
/// unsupported, where no build of a named package fits.
[[nodiscard]] Outcome<resolver::Requests> refit_requests(
    Workspace& workspace, const resolver::Target& target,
    const std::vector<installer::InstalledDistribution>& installed, Report& report);

}  // namespace axle::session
