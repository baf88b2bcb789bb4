#pragma once
// The last steps of a transaction, for the command that made it and for one that finds it
// interrupted.

#include <cstdint>
#include <string>
#include <vector>

#include "foundation/report/error.h"
#include "foundation/report/report.h"
#include "installer/history/history.h"
#include "installer/transaction/journal.h"
#include "installer/transaction/meddling.h"
#include "installer/transaction/removal.h"
#include "installer/transaction/transaction_folder.h"

namespace axle::installer {

/// Removes what finished transactions left. Best effort: files of other users may have to stay.
void sweep_finished(const TransactionFolder& folder);

/// A folder that has left, whose links the store can keep for the next installation.
struct ReturnedLinks {
  std::uint32_t number;  ///< of the move
  std::string entry;     ///< the wheel's in the store
  std::string name;
  LinkedFolder folder;
};

/// Of what `removal` removes: whole folders of one package of `before`, whose wheel is known.
[[nodiscard]] std::vector<ReturnedLinks> find_returned_links(
    const Removal& removal, const std::vector<RecordedPackage>& before, const std::string& store);

/// Ends a transaction whose moves are all made or all undone. Its folder is moved away with one
/// rename: it must never be visible with a journal and an incomplete content. Then the store gets
/// `returned`, as far as it can keep it. What cannot be deleted now is tried again by later
/// commands and does not affect any.
[[nodiscard]] Result<void> retire(const TransactionFolder& folder, Report& report,
                                  const std::vector<ReturnedLinks>& returned = {});

/// Warns about packages that another program changed in the meantime, and that stay as they are.
void say_taken_over(const Meddling& meddling, Report& report);

/// Restores the old state, except for changes of other programs.
[[nodiscard]] Result<void> put_all_back(const TransactionFolder& folder, const Journal& journal,
                                        Report& report);

/// Because of `cause`. Rolling forward is no longer possible after the rename to `undo`.
[[nodiscard]] Result<void> undo(const TransactionFolder& folder, const Journal& journal,
                                const Error& cause, Report& report);

}  // namespace axle::installer
