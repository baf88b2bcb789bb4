#pragma once
// axle.lock of a project: read, made anew where it is out of date, written.

#include <optional>
#include <string>
#include <vector>

#include "foundation/report/report.h"
#include "plan/lock/lock.h"
#include "session/command_failure.h"
#include "session/projects/class_locking.h"
#include "session/projects/project.h"
#include "session/session.h"

namespace axle::session {

/// nullopt: the project has none yet. Errors: io; malformed and unsupported, as of parse_lock.
[[nodiscard]] Outcome<std::optional<plan::Lock>> read_lock(const Project& project);

/// sha256 over what the answer depends on in the project's own file: what it requires, its sources
/// and indexes, its classes and the files of their profiles. Whitespace, comments and order of keys
/// do not count.
[[nodiscard]] Outcome<std::string> lock_inputs(const Project& project);

/// Whether `lock` was made for what the project says now.
[[nodiscard]] Outcome<bool> is_current(const Project& project, const plan::Lock& lock);

/// Solves every class. Versions of `before` are kept where they can be, unless --upgrade or
/// --upgrade-package say otherwise; `pins` count where it has none. Errors: what resolving says,
/// with the class; exit code 3 where nothing fits one.
[[nodiscard]] Outcome<plan::Lock> make_lock(Session& session, const Project& project,
                                            const plan::Lock* before, const PreferredVersions& pins,
                                            Report& report);

/// Whole or not at all.
[[nodiscard]] Outcome<void> write_lock(const Project& project, const plan::Lock& lock);

/// What a lock has of a package now and had before; nullopt: in no class.
struct LockedChange {
  std::string name;
  std::optional<std::string> before = {};  ///< "2.8.0+cu128, 2.8.0+cpu"
  std::optional<std::string> after = {};
};
[[nodiscard]] std::vector<LockedChange> compare_locks(const plan::Lock* before,
                                                      const plan::Lock& after);

}  // namespace axle::session
