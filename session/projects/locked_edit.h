#pragma once
// A change of a project's pyproject.toml together with its lock: both are written, or none.

#include <vector>

#include "foundation/report/report.h"
#include "plan/lock/lock.h"
#include "session/command_failure.h"
#include "session/projects/imported_project.h"
#include "session/projects/project_edit.h"
#include "session/projects/project_lock.h"
#include "session/session.h"

namespace axle::session {

struct LockedEdit {
  plan::Lock lock;
  std::vector<LockedChange> changes;  ///< of the lock
};

/// Writes `edit`, locks what the project is then, and writes that lock. What was added to
/// `bounded` (nullptr: no list) without version or URL gets as lower bound the lowest version that
/// a class is locked to. If it cannot be locked, the file is as it was. `pins` count as in
/// make_lock.
[[nodiscard]] Outcome<LockedEdit> lock_edit(Session& session, ProjectEdit& edit,
                                            const RequirementList* bounded, const Pins& pins,
                                            Report& report);

}  // namespace axle::session
