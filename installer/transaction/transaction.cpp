#include "installer/transaction/transaction.h"

#include <cerrno>
#include <cstdio>

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "foundation/system/parallel.h"
#include "installer/durability/unflushed_marks.h"
#include "installer/file_access.h"
#include "installer/history/history.h"
#include "installer/transaction/rolling.h"
#include "installer/transaction/transaction_folder.h"
#include "installer/transaction/unbroken.h"
#include "installer/tree/remove_tree.h"

namespace axle::installer {
namespace {

std::string draft_of(const TransactionFolder& folder) { return folder.journal + ".draft"; }

/// The commit point.
Result<void> enter_journal(const TransactionFolder& folder) {
  if (::rename(draft_of(folder).c_str(), folder.journal.c_str()) != 0) {
    return std::unexpected(system_error("create", folder.journal, errno));
  }
  return {};
}

}  // namespace

Result<Transaction> Transaction::begin(const std::string& base) {
  const TransactionFolder folder(base);
  if (::mkdir(folder.path.c_str(), 0777) != 0) {
    return std::unexpected(system_error("create", folder.path, errno));
  }
  Transaction transaction(base);
  for (const std::string& half : {folder.path + "/new", folder.path + "/old"}) {
    if (::mkdir(half.c_str(), 0777) != 0) {
      return std::unexpected(system_error("create", half, errno));
    }
  }
  return transaction;
}

Transaction::~Transaction() {
  if (!base_.empty()) (void)remove_tree(TransactionFolder(base_).path);
}

std::string Transaction::new_folder() const { return TransactionFolder(base_).path + "/new"; }

Result<void> Transaction::draft_history(const std::string& text) const {
  return create_file(AT_FDCWD, TransactionFolder(base_).path + "/history", text, false);
}

Result<void> Transaction::commit(const Journal& journal, const UnflushedChange& promise,
                                 const std::vector<ReturnedLinks>& returned, Report& report) {
  const TransactionFolder folder(base_);
  Result<void> drafted;
  std::string promised_text;
  // Both are megabytes for a large package.
  system::for_each_at_once(2, system::usable_processors(), [&](std::size_t which) {
    if (which == 0) {
      drafted = create_file(AT_FDCWD, draft_of(folder), render_journal(journal), false);
    } else {
      promised_text = render_unflushed(promise);
    }
  });
  if (!drafted) return drafted;
  // A promise is kept after the next start of the machine, even if the command ends here.
  const Unbroken unbroken;
  if (auto promised = promise_change(base_, promised_text); !promised) return promised;
  if (auto entered = enter_journal(folder); !entered) {
    // If that fails too, the next command does it.
    (void)withdraw_promises(base_, Withdrawn::never_visible);
    return entered;
  }
  base_.clear();  // from here on recovery owns the folder
  auto done = roll_forward(folder, journal, {});
  if (!done) {
    if (auto undone = undo(folder, journal, done.error(), report); !undone) return undone;
    return done;
  }
  auto ended = adopt_history(folder.base);
  if (ended) ended = fulfil_promises(folder.base);
  if (ended) ended = retire(folder, report, returned);
  if (!ended) {
    report.warn(ended.error().message, "the change was made; the next command cleans up");
  }
  count_change();
  return {};
}

}  // namespace axle::installer
