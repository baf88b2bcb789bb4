#pragma once
// How a change of an environment becomes visible: all of it at one commit point.
//
// State folder <base>/.axle:
//   lock                 held (flock) by whoever changes the environment
//   transaction/new/<n>  what will enter, complete
//   transaction/old/<n>  what has left
//   transaction/journal  written last and renamed into place: from then on it rolls forward
//   transaction/unfit-<n>  spare links that were not used (store/spare_tree.h)
//   transaction/history  the history with this change (history/history.h), which takes its place at
//                        the end
//   transaction/undo     the journal again, renamed when rolling forward failed: from then on the
//                        transaction rolls back
//   discard              a finished transaction, being deleted
//   discard-<n>          the same, where an earlier one holds what cannot be deleted
// Without journal and undo nothing visible has changed, and the folder is deleted.
//
// Every move is one rename whose state can be read from what exists, so that rolling in either
// direction can be repeated from any point. Nothing of that waits for the disk: what a change
// promises is written there before its journal appears (durability/unflushed_marks.h), and after a
// power failure that record counts, not the journal.

#include <string>
#include <utility>
#include <vector>

#include "foundation/report/error.h"
#include "foundation/report/report.h"
#include "installer/durability/unflushed_change.h"
#include "installer/transaction/ending.h"
#include "installer/transaction/journal.h"

namespace axle::installer {

class Transaction {
 public:
  /// Creates the empty transaction folder; the caller holds the lock and has recovered. The
  /// destructor removes it unless commit() was called.
  [[nodiscard]] static Result<Transaction> begin(const std::string& base);
  Transaction(Transaction&& other) noexcept : base_(std::move(other.base_)) { other.base_.clear(); }
  Transaction& operator=(Transaction&&) = delete;
  Transaction(const Transaction&) = delete;
  Transaction& operator=(const Transaction&) = delete;
  ~Transaction();

  /// The path where new/<n> is staged.
  [[nodiscard]] std::string new_folder() const;

  /// What the history of the environment is when everything is visible. Error: io.
  [[nodiscard]] Result<void> draft_history(const std::string& text) const;

  /// Makes `promise` durable, then the commit point and everything after it. On an error everything
  /// has been rolled back, or, if that failed too, the hint says that the next command continues.
  /// `returned`: of what `journal` removes.
  [[nodiscard]] Result<void> commit(const Journal& journal, const UnflushedChange& promise,
                                    const std::vector<ReturnedLinks>& returned, Report& report);

 private:
  explicit Transaction(std::string base) : base_(std::move(base)) {}
  std::string base_;
};

}  // namespace axle::installer
