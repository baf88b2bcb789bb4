#pragma once
// The project and its lock, as sync, run, verify, tree and export want them: read, and made anew
// where it is out of date and the command may do so.

#include "cli/output.h"
#include "plan/lock/lock.h"
#include "session/command_failure.h"
#include "session/projects/lock_file.h"
#include "session/projects/project.h"
#include "session/projects/sync_plan.h"
#include "session/session.h"

namespace axle::cli {

struct LockedProject {
  session::Project project;
  plan::Lock lock;
};

/// The first option that only counts where something is chosen, such as --pre or --upgrade; empty:
/// none is given. With one of them a lock that is up to date is made anew.
[[nodiscard]] std::string choosing_option(const session::Arguments& arguments);

/// --class; empty: none is named. Error: usage, for several.
[[nodiscard]] session::Outcome<std::string> named_class(const session::Arguments& arguments);

/// What is said of a lock that was made for another project.
[[nodiscard]] std::string out_of_date();
/// Why `lock` has to be made anew: the project says something else now, or this run names other
/// indexes. Empty: it is up to date.
[[nodiscard]] session::Outcome<std::string> why_stale(const session::Session& session,
                                                      const session::Project& project,
                                                      const plan::Lock& lock);

/// Without --frozen and --locked a lock that is missing or out of date is made and written; with
/// --locked it is refused (exit code 4), with --frozen taken as it is.
[[nodiscard]] session::Outcome<LockedProject> open_locked_project(session::Session& session,
                                                                  Output& output);

/// The lock as it is, for commands that only show it; one that is out of date is a warning, with
/// --locked an error (exit code 4), and with --frozen nothing. Error: exit code 2, if there is
/// none.
[[nodiscard]] session::Outcome<LockedProject> read_locked_project(
    const session::Arguments& arguments, Output& output);
/// The same for commands that need no project beside the lock.
[[nodiscard]] session::Outcome<session::LockFile> read_lock_file(
    const session::Arguments& arguments, Output& output);

/// --inexact, --no-install-project, --no-editable.
[[nodiscard]] session::SyncWishes sync_wishes(const session::Arguments& arguments);

/// The arguments of a command inside the environment in `folder`: of the project's requests none,
/// which the lock has answered.
[[nodiscard]] session::Arguments within_environment(const session::Arguments& arguments,
                                                    const std::string& folder);

}  // namespace axle::cli
