#pragma once
// variant undo: from the record of the last change of an environment to the packages that were
// there before.

#include "foundation/report/report.h"
#include "installer/environment/environment.h"
#include "installer/history/history.h"
#include "installer/transaction/changes.h"
#include "session/command_failure.h"

namespace axle::session {

struct Undoing {
  installer::RecordedChange change;  ///< that is undone or made again
  installer::PackageSet set;
};

/// What undoes the last change that is not undone yet, or makes the last one that is undone again.
/// Errors: not_found, if there is none; conflict, if packages of it are not as it left them, or
/// files of them were edited; unsupported, if the wheel of one that would come back is not known.
[[nodiscard]] Outcome<Undoing> plan_undoing(const installer::Environment& environment,
                                            installer::HistoryStep step, Report& report);

}  // namespace axle::session
