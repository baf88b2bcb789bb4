#pragma once
// What a change means for the history of the environment (history/history.h).

#include <list>
#include <optional>
#include <string>
#include <vector>

#include "foundation/report/error.h"
#include "foundation/report/report.h"
#include "installer/environment/installed.h"
#include "installer/history/history.h"
#include "installer/transaction/new_package.h"
#include "installer/transaction/staging.h"
#include "plan/resolution.h"

namespace axle::installer {

/// The history that a change is added to; nullopt, with a note: it is of a later version of Axle,
/// and stays as it is. A damaged one is empty, with a warning. Errors: io; conflict, if `step` is
/// an undo or redo of `expected`, which is not the next one.
[[nodiscard]] Result<std::optional<History>> read_history_to_extend(
    const std::string& base, HistoryStep step, const std::optional<RecordedChange>& expected,
    Report& report);

/// What was and will be installed of the packages that change; also of those of `staying` that only
/// lose files to others, whose metadata is `rewritten`. `packages` and `entering` are the same
/// ones.
[[nodiscard]] RecordedChange record_change(
    const History& history, const std::vector<InstalledDistribution>& leaving,
    const std::vector<InstalledDistribution>& staying,
    const std::vector<const plan::ResolvedPackage*>& packages,
    const std::vector<NewPackage>& entering,
    const std::list<Staging::RewrittenMetadata>& rewritten);

}  // namespace axle::installer
