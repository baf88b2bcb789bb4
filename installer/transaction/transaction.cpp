#include "installer/transaction/transaction.h"

#include <cerrno>
#include <cstdio>

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "installer/file_access.h"
#include "installer/transaction/ending.h"
#include "installer/transaction/remove_tree.h"
#include "installer/transaction/rolling.h"
#include "installer/transaction/transaction_folder.h"
#include "installer/transaction/unbroken.h"

namespace axle::installer {
namespace {

std::string draft_of(const TransactionFolder& folder) { return folder.journal + ".draft"; }

/// Everything except the commit point: nothing is visible yet, and everything is on disk.
Result<void> draft_journal(const TransactionFolder& folder, const Journal& journal) {
  const std::string draft = draft_of(folder);
  if (auto written = create_file(AT_FDCWD, draft, render_journal(journal), false); !written) {
    return written;
  }
  auto opened = open_folder(folder.path);
  if (!opened) return std::unexpected(opened.error());
  if (::syncfs(opened->get()) != 0) {
    return std::unexpected(system_error("write to disk", folder.path, errno));
  }
  return {};
}

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

Result<void> Transaction::commit(const Journal& journal, Report& report) {
  const TransactionFolder folder(base_);
  if (auto drafted = draft_journal(folder, journal); !drafted) return drafted;
  const Unbroken unbroken;
  if (auto entered = enter_journal(folder); !entered) return entered;
  base_.clear();  // from here on recovery owns the folder
  auto done = roll_forward(folder, journal, {});
  if (!done) {
    if (auto undone = undo(folder, journal, done.error(), report); !undone) return undone;
    return done;
  }
  if (auto retired = retire(folder, report); !retired) {
    report.warn(retired.error().message, "the change was made; the next command cleans up");
  }
  count_change();
  return {};
}

}  // namespace axle::installer
