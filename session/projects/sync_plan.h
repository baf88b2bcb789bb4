#pragma once
// From what a lock has for a class to what an environment lacks of it.

#include <cstdint>
#include <string>
#include <vector>

#include "foundation/report/report.h"
#include "installer/environment/installed.h"
#include "plan/lock/lock.h"
#include "plan/resolution.h"
#include "session/command_failure.h"
#include "session/projects/project.h"
#include "session/workspace.h"

namespace axle::session {

struct SyncWishes {
  bool exact = true;     ///< what the lock does not have is removed; false: --inexact
  bool project = true;   ///< the project itself is installed, if it is a package
  bool editable = true;  ///< and is used where it is
};

/// How an environment differs from the lock.
enum class DriftKind : std::uint8_t {
  missing,     ///< locked, and not installed
  version,     ///< installed in another version
  build,       ///< in another build of that version
  extraneous,  ///< installed, and not locked
};

struct Drift {
  DriftKind kind = DriftKind::missing;
  std::string package;
  std::string locked = {};     ///< "2.9.0+cu128"; empty: nothing
  std::string installed = {};  ///< the same
};

/// Without building or fetching anything. Errors: io, what cannot be read.
[[nodiscard]] Outcome<std::vector<Drift>> find_drift(
    const Project& project, const std::vector<plan::ReachedPackage>& packages,
    const std::vector<installer::InstalledDistribution>& installed, const SyncWishes& wishes,
    const installer::Environment& environment);

/// What makes `workspace`'s environment hold `packages` of the lock: all of them, those that are
/// there as the lock has them marked so, and what is to be removed. pip, setuptools and wheel stay,
/// as with uv. Sources are built, where the user consents or has named them. Errors: conflict (a
/// build without consent), what a build says, malformed.
[[nodiscard]] Outcome<plan::Resolution> plan_sync(
    const Project& project, const std::vector<plan::ReachedPackage>& packages,
    const std::vector<installer::InstalledDistribution>& installed, const SyncWishes& wishes,
    Workspace& workspace, Report& report);

}  // namespace axle::session
