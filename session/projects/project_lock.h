#pragma once
// axle.lock of a project: read, made anew where it is out of date, written.

#include <optional>
#include <string>
#include <vector>

#include "foundation/report/report.h"
#include "plan/lock/lock.h"
#include "session/command_failure.h"
#include "session/projects/class_locking.h"
#include "session/projects/lock_file.h"
#include "session/projects/project.h"
#include "session/session.h"

namespace axle::session {

/// sha256 over what the answer depends on in the project's own file: what it requires, its sources
/// and indexes, its classes and the files of their profiles. Whitespace, comments and order of keys
/// do not count. Of folders among `packages` those files count, as they are, that say what they
/// need.
[[nodiscard]] Outcome<std::string> lock_inputs(const Project& project,
                                               const std::vector<plan::LockedPackage>& packages);

/// Whether `lock` was made for what the project says now.
[[nodiscard]] Outcome<bool> is_current(const Project& project, const plan::Lock& lock);

/// As uv has it, a lock is out of date where a package comes from an index that is none of this
/// run's. Only what options and variables say of indexes counts: files of this machine are not
/// those of others who have the same lock. "demo comes from URL, which is none of the indexes that
/// --index-url and …"; empty: there is no such package. Errors: as of read_settings.
[[nodiscard]] Outcome<std::string> foreign_source(const Session& session, const Project& project,
                                                  const plan::Lock& lock);

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
