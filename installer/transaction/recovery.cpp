#include "installer/transaction/recovery.h"

#include <cerrno>
#include <exception>
#include <filesystem>
#include <set>
#include <string_view>
#include <system_error>
#include <vector>

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include "installer/descriptor.h"
#include "installer/transaction/meddling.h"
#include "installer/transaction/remove_tree.h"
#include "installer/transaction/rolling.h"
#include "installer/transaction/transaction_folder.h"
#include "installer/transaction/unbroken.h"

namespace axle::installer {
namespace {

/// What finished transactions left. Best effort: another user's things may have to stay.
void sweep(const TransactionFolder& folder) {
  std::vector<std::string> left;
  std::error_code error;
  for (std::filesystem::directory_iterator entry(folder.state, error), end; !error && entry != end;
       entry.increment(error)) {
    std::string path = entry->path().string();
    if (path == folder.discard || path.starts_with(folder.discard + "-"))
      left.push_back(std::move(path));
  }
  for (const std::string& path : left) (void)remove_tree(path);
}

/// Ends a transaction whose moves are all made or all undone. Its folder leaves by one rename: it
/// must never be seen with a journal and half of its things. What cannot be deleted now is tried
/// again by later commands and stands in the way of none.
Result<void> retire(const TransactionFolder& folder, Report& report) {
  sweep(folder);
  std::string discard = folder.discard;
  for (unsigned number = 1;; ++number) {
    const auto taken = exists(discard);
    if (!taken) return std::unexpected(taken.error());
    if (!*taken) break;
    discard = fmt::format("{}-{}", folder.discard, number);
  }
  if (::rename(folder.path.c_str(), discard.c_str()) != 0) {
    return std::unexpected(system_error("remove", folder.path, errno));
  }
  if (const int code = remove_tree(discard); code != 0) {
    report.warn(system_error("remove", discard, code).message,
                "it is not needed: its owner may delete it, and later commands try again");
  }
  return {};
}

void say_taken_over(const Meddling& meddling, Report& report) {
  for (const std::string& packages : meddling.taken_over) {
    report.warn(
        fmt::format(
            "{}: changed by another program while a command of Axle was interrupted; kept as it is",
            packages),
        "`variant check` shows whether its requirements are met");
  }
}

/// Back to the old state, but for what other programs changed.
Result<void> put_all_back(const TransactionFolder& folder, const Journal& journal, Report& report) {
  const auto meddling = find_meddling(folder, journal);
  if (!meddling) return std::unexpected(meddling.error());
  if (auto undone = roll_back(folder, journal, meddling->taken_over, report); !undone)
    return undone;
  if (auto retired = retire(folder, report); !retired) return retired;
  say_taken_over(*meddling, report);
  return {};
}

/// Rolling forward stops for good at the rename to `undo`.
Result<void> undo(const TransactionFolder& folder, const Journal& journal, const Error& cause,
                  Report& report) {
  constexpr std::string_view next =
      "fix that and run any command of Axle on this environment, which continues";
  if (::rename(folder.journal.c_str(), folder.undo.c_str()) != 0) {
    return fail(cause.kind, cause.message, std::string(next));
  }
  if (auto undone = put_all_back(folder, journal, report); !undone) {
    return fail(undone.error().kind,
                fmt::format("{}; and undoing it failed: {}", cause.message, undone.error().message),
                std::string(next));
  }
  return {};
}

Result<void> roll_forward_or_say_why(const TransactionFolder& folder, const Journal& journal,
                                     const std::set<std::string>& left_alone) {
  try {
    return roll_forward(folder, journal, left_alone);
  } catch (const std::exception& error) {  // no memory
    return fail(ErrorKind::io, fmt::format("cannot change {}: {}", folder.base, error.what()));
  }
}

Result<Journal> read_journal(const TransactionFolder& folder, const std::string& path) {
  constexpr std::uint64_t limit = 1ULL << 30;
  auto text = read_file(path, limit);
  auto journal = text ? parse_journal(*text, path) : std::unexpected(text.error());
  if (!journal && journal.error().kind != ErrorKind::io) {
    journal.error().hint = fmt::format(
        "the interrupted command cannot be completed: `rm -r '{}'` discards it (files removed from "
        "the environment are in old/ there); `variant check` and `variant doctor` then show what "
        "to reinstall",
        folder.path);
  }
  return journal;
}

/// An interrupted transaction that had begun to roll back.
Result<void> finish_undoing(const TransactionFolder& folder, Report& report) {
  auto journal = read_journal(folder, folder.undo);
  if (!journal) return std::unexpected(journal.error());
  if (auto undone = put_all_back(folder, *journal, report); !undone) return undone;
  report.note(fmt::format("rolled back an interrupted command: {}", journal->title));
  return {};
}

/// An interrupted transaction that was committed.
Result<void> finish_committed(const TransactionFolder& folder, Report& report) {
  auto journal = read_journal(folder, folder.journal);
  if (!journal) return std::unexpected(journal.error());
  const auto meddling = find_meddling(folder, *journal);
  if (!meddling) return std::unexpected(meddling.error());
  const auto done =
      meddling->files_changed
          ? fail(ErrorKind::conflict, "another program changed its files in the meantime")
          : roll_forward_or_say_why(folder, *journal, meddling->taken_over);
  if (!done) {
    if (auto undone = undo(folder, *journal, done.error(), report); !undone) return undone;
    report.warn(fmt::format("rolled back an interrupted command ({}) that cannot be completed: {}",
                            journal->title, done.error().message));
    return {};
  }
  if (auto retired = retire(folder, report); !retired) return retired;
  say_taken_over(*meddling, report);
  report.note(fmt::format("completed an interrupted command: {}", journal->title));
  return {};
}

std::string draft_of(const TransactionFolder& folder) { return folder.journal + ".draft"; }

/// Everything but the commit point: nothing is visible yet, and all that will be is on disk.
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
  auto done = roll_forward_or_say_why(folder, journal, {});
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

Result<Interrupted> find_interrupted(const std::string& base) {
  const TransactionFolder folder(base);
  const auto begun = exists(folder.path);
  const auto left = exists(folder.discard);
  const auto journal = exists(folder.journal);
  const auto undo = exists(folder.undo);
  for (const auto* answer : {&begun, &left, &journal, &undo}) {
    if (!*answer) return std::unexpected(answer->error());
  }
  if (!*begun) return *left ? Interrupted::invisible : Interrupted::no;
  return *journal || *undo ? Interrupted::visible : Interrupted::invisible;
}

Result<void> finish_interrupted(const std::string& base, Report& report) {
  const TransactionFolder folder(base);
  const auto begun = exists(folder.path);
  if (!begun) return std::unexpected(begun.error());
  if (!*begun) {
    sweep(folder);
    return {};
  }
  const auto undoing = exists(folder.undo);
  if (!undoing) return std::unexpected(undoing.error());
  const auto committed = exists(folder.journal);
  if (!committed) return std::unexpected(committed.error());
  const Unbroken unbroken;
  if (*undoing) return finish_undoing(folder, report);
  if (*committed) return finish_committed(folder, report);
  return retire(folder, report);
}

}  // namespace axle::installer
