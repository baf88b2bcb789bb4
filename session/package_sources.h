#pragma once
// Opens the sources of packages: indexes, find-links, and the sources that a project assigns to
// single packages.

#include "foundation/report/report.h"
#include "session/command_failure.h"
#include "session/options.h"
#include "session/workspace.h"

namespace axle::session {

/// Fills `sources` and `owned_sources` of a workspace that has its environment, settings, transport
/// and families. `arguments`: which groups and extras of projects are requested. Errors: usage, for
/// a source that names an index that is not configured.
[[nodiscard]] Outcome<void> open_sources(Workspace& workspace, const Arguments& arguments,
                                         Report& report);

}  // namespace axle::session
