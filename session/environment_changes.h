#pragma once
// What a command needs to change an environment: that it may, where wheels are unpacked, and a plan
// that the wheels themselves agree with.

#include <functional>
#include <optional>
#include <string>

#include "installer/store/work_folder.h"
#include "installer/transaction/changes.h"
#include "session/command_failure.h"
#include "session/workspace.h"

namespace axle::session {

/// Fails for an environment that the operating system manages, unless the user insists or nothing
/// is changed.
[[nodiscard]] Outcome<void> refuse_managed(const installer::Environment& environment,
                                           const Arguments& arguments);

/// Where unpacked wheels lie.
struct ChosenStore {
  std::string folder;  ///< empty: nowhere
  std::optional<installer::WorkFolder> temporary = std::nullopt;
};

/// In the cache; a folder that goes with the command, and a warning, where nothing can be kept
/// there. With `dry_run` nothing is made. Errors: no folder for temporary files.
[[nodiscard]] Outcome<ChosenStore> choose_store(const Session& session, bool dry_run,
                                                Report& report);

/// installer::plan_changes, or foresee_changes.
using PlanChanges = decltype(&installer::plan_changes);

/// Plans what `resolution` asks for. Where a wheel's own METADATA is not what it was chosen by,
/// that is said and `resolve` asked again, which then goes by the wheel's.
[[nodiscard]] Outcome<installer::Changes> plan_as_wheels_say(
    PlanChanges plan, Workspace& workspace, plan::Resolution& resolution,
    installer::InstallOptions options, const std::function<Result<plan::Resolution>()>& resolve,
    Report& report);

}  // namespace axle::session
