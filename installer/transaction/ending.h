#pragma once
// The last steps of a transaction, for the command that made it and for one that finds it
// interrupted.

#include "foundation/report/error.h"
#include "foundation/report/report.h"
#include "installer/transaction/journal.h"
#include "installer/transaction/meddling.h"
#include "installer/transaction/transaction_folder.h"

namespace axle::installer {

/// Removes what finished transactions left. Best effort: files of other users may have to stay.
void sweep_finished(const TransactionFolder& folder);

/// Ends a transaction whose moves are all made or all undone. Its folder is moved away with one
/// rename: it must never be visible with a journal and an incomplete content. What cannot be
/// deleted now is tried again by later commands and does not affect any.
[[nodiscard]] Result<void> retire(const TransactionFolder& folder, Report& report);

/// Warns about packages that another program changed in the meantime, and that stay as they are.
void say_taken_over(const Meddling& meddling, Report& report);

/// Restores the old state, except for changes of other programs.
[[nodiscard]] Result<void> put_all_back(const TransactionFolder& folder, const Journal& journal,
                                        Report& report);

/// Because of `cause`. Rolling forward is no longer possible after the rename to `undo`.
[[nodiscard]] Result<void> undo(const TransactionFolder& folder, const Journal& journal,
                                const Error& cause, Report& report);

}  // namespace axle::installer
