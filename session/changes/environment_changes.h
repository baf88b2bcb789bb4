#pragma once
// What a command needs to change an environment: the permission to do so, a place for unpacked
// wheels, and a plan that agrees with the wheels' own metadata.

#include <functional>
#include <optional>
#include <string>

#include "installer/store/wheel_facts.h"
#include "installer/transaction/changes.h"
#include "installer/work_folder.h"
#include "session/command_failure.h"
#include "session/workspace.h"

namespace axle::session {

/// Fails for an environment that the operating system manages, unless the user overrides this or
/// nothing is changed.
[[nodiscard]] Outcome<void> refuse_managed(const installer::Environment& environment,
                                           const Arguments& arguments);

/// The location of unpacked wheels.
struct ChosenStore {
  std::string folder;  ///< empty: nowhere
  /// Of a cache that cannot be written; empty: there is none.
  std::string read_only = {};
  std::optional<installer::WorkFolder> temporary = std::nullopt;
};

/// In the cache; if nothing can be stored there, in a temporary folder that is removed after the
/// command, with a warning: what the cache has is used all the same. Nothing is created with
/// `dry_run`. Errors: no folder for temporary files.
[[nodiscard]] Outcome<ChosenStore> choose_store(const Session& session, bool dry_run,
                                                Report& report);

/// How `settings` want wheels to be installed from `store`. Error: usage, for symbolic links into a
/// store that is not kept.
[[nodiscard]] Outcome<installer::InstallOptions> install_options(const Settings& settings,
                                                                 const ChosenStore& store,
                                                                 const Session& session);

/// Completes what is known of the wheels of `resolution` that are to be installed, for which those
/// that nobody had to download whole are.
[[nodiscard]] Outcome<void> complete_facts(const plan::Resolution& resolution,
                                           index::Transport& transport,
                                           installer::WheelFactsByUrl& facts, Report& report);

/// installer::plan_changes, or foresee_changes.
using PlanChanges = decltype(&installer::plan_changes);

/// Plans the changes for `resolution`. If a wheel's own METADATA differs from the metadata it was
/// chosen by, this is reported and `resolve` is called again, which then uses the wheel's own.
[[nodiscard]] Outcome<installer::Changes> plan_as_wheels_say(
    PlanChanges plan, Workspace& workspace, plan::Resolution& resolution,
    installer::InstallOptions options, const std::function<Result<plan::Resolution>()>& resolve,
    Report& report);

}  // namespace axle::session
