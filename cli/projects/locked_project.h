#pragma once
// The project and its lock, as sync, run, verify, tree and export want them: read, and made anew
// where it is out of date and the command may do so.

#include "cli/output.h"
#include "plan/lock/lock.h"
#include "session/command_failure.h"
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

/// Without --frozen and --locked a lock that is missing or out of date is made and written; with
/// --locked it is refused (exit code 4), with --frozen taken as it is.
[[nodiscard]] session::Outcome<LockedProject> open_locked_project(session::Session& session,
                                                                  Output& output);

/// The lock as it is, for commands that only show it; one that is out of date is reported. Error:
/// not_found, if there is none.
[[nodiscard]] session::Outcome<LockedProject> read_locked_project(Output& output);

/// --extra, --all-extras, --group, --all-groups, --only-group, --no-default-groups: which of what
/// the project asks for is wanted. Error: usage, for a name that it does not have.
[[nodiscard]] session::Outcome<plan::LockSelection> lock_selection(
    const session::Project& project, const plan::Lock& lock, const session::Arguments& arguments);

/// --inexact, --no-install-project, --no-editable.
[[nodiscard]] session::SyncWishes sync_wishes(const session::Arguments& arguments);

/// The arguments of a command inside the environment in `folder`: of the project's requests none,
/// which the lock has answered.
[[nodiscard]] session::Arguments within_environment(const session::Arguments& arguments,
                                                    const std::string& folder);

}  // namespace axle::cli
