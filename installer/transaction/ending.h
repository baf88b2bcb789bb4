#pragma once
// The last steps of a transaction, for the command that made it and for one that finds it
// interrupted.

#include "foundation/report/error.h"
#include "foundation/report/report.h"
#include "installer/transaction/journal.h"
#include "installer/transaction/meddling.h"
#include "installer/transaction/transaction_folder.h"

namespace axle::installer {

/// What finished transactions left. Best effort: another user's things may have to stay.
void sweep_finished(const TransactionFolder& folder);

/// Ends a transaction whose moves are all made or all undone. Its folder leaves by one rename: it
/// must never be seen with a journal and half of its things. What cannot be deleted now is tried
/// again by later commands and stands in the way of none.
[[nodiscard]] Result<void> retire(const TransactionFolder& folder, Report& report);

/// Warns of the packages that another program changed meanwhile, and that stay as they are now.
void say_taken_over(const Meddling& meddling, Report& report);

/// Back to the old state, but for what other programs changed.
[[nodiscard]] Result<void> put_all_back(const TransactionFolder& folder, const Journal& journal,
                                        Report& report);

/// Because of `cause`. Rolling forward stops for good at the rename to `undo`.
[[nodiscard]] Result<void> undo(const TransactionFolder& folder, const Journal& journal,
                                const Error& cause, Report& report);

}  // namespace axle::installer
