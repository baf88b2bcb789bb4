#include "installer/transaction/recovery.h"

#include <string_view>

#include <fmt/format.h>

#include "installer/durability/power_loss.h"
#include "installer/durability/unflushed_marks.h"
#include "installer/file_access.h"
#include "installer/history/history.h"
#include "installer/transaction/ending.h"
#include "installer/transaction/journal.h"
#include "installer/transaction/meddling.h"
#include "installer/transaction/rolling.h"
#include "installer/transaction/transaction_folder.h"
#include "installer/transaction/unbroken.h"

namespace axle::installer {
namespace {

Result<Journal> read_journal(const TransactionFolder& folder, const std::string& path) {
  constexpr std::uint64_t limit = 1ULL << 30;
  auto text = read_file(path, limit);
  auto journal = text ? parse_journal(*text, path) : std::unexpected(text.error());
  if (!journal && journal.error().kind != ErrorKind::io) {
    const bool of_another = journal.error().kind == ErrorKind::unsupported;
    journal.error().hint = fmt::format(
        "{}: `rm -r '{}'` discards it (files removed from the environment are in old/ there); "
        "`variant check` and `variant doctor` then show what to reinstall",
        of_another ? "any command of the version that wrote it completes the interrupted one; "
                     "without that version"
                   : "the interrupted command cannot be completed",
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
          : roll_forward(folder, *journal, meddling->taken_over);
  if (!done) {
    if (auto undone = undo(folder, *journal, done.error(), report); !undone) return undone;
    report.warn(fmt::format("rolled back an interrupted command ({}) that cannot be completed: {}",
                            journal->title, done.error().message));
    return {};
  }
  if (auto adopted = adopt_history(folder.base); !adopted) return adopted;
  if (auto fulfilled = fulfil_promises(folder.base); !fulfilled) return fulfilled;
  if (auto retired = retire(folder, report); !retired) return retired;
  say_taken_over(*meddling, report);
  report.note(fmt::format("completed an interrupted command: {}", journal->title));
  return {};
}

}  // namespace

Result<Interrupted> find_interrupted(const std::string& base) {
  const TransactionFolder folder(base);
  const auto begun = exists(folder.path);
  const auto left = exists(folder.discard);
  const auto journal = exists(folder.journal);
  const auto undo = exists(folder.undo);
  for (const auto* answer : {&begun, &left, &journal, &undo}) {
    if (!*answer) return std::unexpected(answer->error());
  }
  if (*begun && (*journal || *undo)) return Interrupted::visible;
  const auto marks = find_unflushed(base, Copies::leave);
  if (!marks) return std::unexpected(marks.error());
  if (!marks->foreign.empty()) return Interrupted::unverified;
  return *begun || *left ? Interrupted::invisible : Interrupted::no;
}

Result<void> finish_interrupted(const std::string& base, Report& report,
                                index::Transport* transport) {
  const TransactionFolder folder(base);
  // First: the journal of an earlier boot may be as incomplete as what it was about.
  if (auto recovered = recover_from_power_loss(base, transport, report); !recovered)
    return recovered;
  const auto begun = exists(folder.path);
  if (!begun) return std::unexpected(begun.error());
  if (!*begun) {
    sweep_finished(folder);
    return withdraw_promises(base, Withdrawn::never_visible);
  }
  const auto undoing = exists(folder.undo);
  if (!undoing) return std::unexpected(undoing.error());
  const auto committed = exists(folder.journal);
  if (!committed) return std::unexpected(committed.error());
  const Unbroken unbroken;
  if (*undoing) return finish_undoing(folder, report);
  if (*committed) return finish_committed(folder, report);
  if (auto withdrawn = withdraw_promises(base, Withdrawn::never_visible); !withdrawn)
    return withdrawn;
  return retire(folder, report);
}

}  // namespace axle::installer
