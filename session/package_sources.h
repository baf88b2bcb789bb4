#pragma once
// The places that packages come from, opened: indexes, find-links, and what a project says of
// single packages.

#include "foundation/report/report.h"
#include "session/command_failure.h"
#include "session/workspace.h"

namespace axle::session {

/// Fills `sources` and `owned_sources` of a workspace whose environment, settings, transport and
/// families are there. Errors: usage, for a source that names an index that is not configured.
[[nodiscard]] Outcome<void> open_sources(Workspace& workspace, Report& report);

}  // namespace axle::session
