#include "installer/recovery.h"

#include <cerrno>
#include <filesystem>
#include <ranges>
#include <set>
#include <string_view>
#include <system_error>
#include <vector>

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include "installer/descriptor.h"
#include "installer/move_thing.h"
#include "installer/remove_tree.h"

namespace axle::installer {
namespace {

struct Places {
  explicit Places(const std::string& environment)
      : base(environment),
        state(environment + "/.axle"),
        transaction(state + "/transaction"),
        discard(state + "/discard"),
        journal(transaction + "/journal"),
        undo(transaction + "/undo") {}

  [[nodiscard]] std::string old_thing(const Move& move) const {
    return fmt::format("{}/old/{}", transaction, move.number);
  }
  [[nodiscard]] std::string new_thing(const Move& move) const {
    return fmt::format("{}/new/{}", transaction, move.number);
  }
  [[nodiscard]] std::string visible(const Move& move) const { return base + "/" + move.path; }

  std::string base;
  std::string state;
  std::string transaction;
  std::string discard;
  std::string journal;
  std::string undo;
};

std::string partial(const std::string& kept) { return kept + ".partial"; }

/// Out of the environment. A folder that cannot be renamed whole is complete under its number only
/// when its last entry has arrived.
int move_out(const std::string& visible, const std::string& kept) {
  if (!exists(partial(kept))) {
    const int code = move_thing(visible, kept);
    if (code != EXDEV) return code;
  }
  if (const int code = move_entries(visible, partial(kept)); code != 0) return code;
  return move_thing(partial(kept), kept);
}

Result<void> roll_forward(const Places& places, const Journal& journal) {
  // Where a new thing has arrived, the old one is gone, also when it was gone before we came.
  std::set<std::string_view> arrived;
  for (const Move& move : journal.moves) {
    if (move.direction == Direction::in && !exists(places.new_thing(move)))
      arrived.insert(move.path);
  }
  for (const Move& move : journal.moves) {
    const std::string visible = places.visible(move);
    const bool out = move.direction == Direction::out;
    if (out && arrived.contains(move.path)) continue;
    const std::string hidden = out ? places.old_thing(move) : places.new_thing(move);
    if (exists(hidden) == out) continue;  // done before
    const int code = out ? move_out(visible, hidden) : move_thing(hidden, visible);
    if (code == 0 || (out && code == ENOENT)) continue;  // somebody else removed it
    return std::unexpected(system_error(out ? "remove" : "install", visible, code));
  }
  return {};
}

Result<void> roll_back(const Places& places, const Journal& journal, Report& report) {
  for (const Move& move : journal.moves | std::views::reverse) {
    const std::string visible = places.visible(move);
    if (move.direction == Direction::in) {
      const std::string staged = places.new_thing(move);
      if (exists(staged)) continue;  // never arrived, or taken back before
      const int code = move_thing(visible, staged);
      if (code != 0 && code != ENOENT)
        return std::unexpected(system_error("take back", visible, code));
      continue;
    }
    const std::string kept = places.old_thing(move);
    if (const int code = move_entries(partial(kept), visible); code != 0) {
      return std::unexpected(system_error("put back", visible, code));
    }
    if (!exists(kept)) continue;
    const int code = move_thing(kept, visible);
    if (code == EEXIST || code == ENOTEMPTY) {
      report.warn(
          fmt::format("{} was put there by another program while a command of Axle was "
                      "interrupted; it is left as it is",
                      visible));
    } else if (code != 0) {
      return std::unexpected(system_error("put back", visible, code));
    }
  }
  return {};
}

/// What finished transactions left. Best effort: another user's things may have to stay.
void sweep(const Places& places) {
  std::vector<std::string> left;
  std::error_code error;
  for (std::filesystem::directory_iterator entry(places.state, error), end; !error && entry != end;
       entry.increment(error)) {
    std::string path = entry->path().string();
    if (path == places.discard || path.starts_with(places.discard + "-"))
      left.push_back(std::move(path));
  }
  for (const std::string& path : left) (void)remove_tree(path);
}

/// Ends a transaction whose moves are all made or all undone. Its folder leaves by one rename: it
/// must never be seen with a journal and half of its things. What cannot be deleted now is tried
/// again by later commands and stands in the way of none.
Result<void> retire(const Places& places, Report& report) {
  sweep(places);
  std::string discard = places.discard;
  for (unsigned number = 1; exists(discard); ++number)
    discard = fmt::format("{}-{}", places.discard, number);
  if (::rename(places.transaction.c_str(), discard.c_str()) != 0) {
    return std::unexpected(system_error("remove", places.transaction, errno));
  }
  if (const int code = remove_tree(discard); code != 0) {
    report.warn(system_error("remove", discard, code).message,
                "nothing needs it: its owner may delete it, and later commands try again");
  }
  return {};
}

/// Back to the old state after `cause`. Rolling forward stops for good at the rename to `undo`.
Result<void> undo(const Places& places, const Journal& journal, const Error& cause,
                  Report& report) {
  constexpr std::string_view next =
      "mend that and run any command of Axle on this environment: it goes on";
  if (::rename(places.journal.c_str(), places.undo.c_str()) != 0) {
    return fail(cause.kind, cause.message, std::string(next));
  }
  if (auto undone = roll_back(places, journal, report); !undone) {
    return fail(undone.error().kind,
                fmt::format("{}; and undoing it failed: {}", cause.message, undone.error().message),
                std::string(next));
  }
  return retire(places, report);
}

Result<Journal> read_journal(const std::string& path) {
  constexpr std::uint64_t limit = 1ULL << 30;
  auto text = read_file(path, limit);
  if (!text) return std::unexpected(text.error());
  return parse_journal(*text, path);
}

Result<void> write_journal(const Places& places, const Journal& journal) {
  const std::string draft = places.journal + ".draft";
  if (auto written = create_file(AT_FDCWD, draft, render_journal(journal), false); !written) {
    return written;
  }
  auto folder = open_folder(places.transaction);
  if (!folder) return std::unexpected(folder.error());
  if (::syncfs(folder->get()) != 0) {
    return std::unexpected(system_error("write to disk", places.transaction, errno));
  }
  if (::rename(draft.c_str(), places.journal.c_str()) != 0) {
    return std::unexpected(system_error("create", places.journal, errno));
  }
  return {};
}

}  // namespace

Result<Transaction> Transaction::begin(const std::string& base) {
  const Places places(base);
  if (::mkdir(places.transaction.c_str(), 0777) != 0) {
    return std::unexpected(system_error("create", places.transaction, errno));
  }
  Transaction transaction(base);
  for (const std::string& folder : {places.transaction + "/new", places.transaction + "/old"}) {
    if (::mkdir(folder.c_str(), 0777) != 0) {
      return std::unexpected(system_error("create", folder, errno));
    }
  }
  return transaction;
}

Transaction::~Transaction() {
  if (!base_.empty()) (void)remove_tree(Places(base_).transaction);
}

std::string Transaction::new_folder() const { return Places(base_).transaction + "/new"; }

Result<void> Transaction::commit(const Journal& journal, Report& report) {
  const Places places(base_);
  if (auto written = write_journal(places, journal); !written) return written;
  base_.clear();  // from here on recovery owns the folder
  auto done = roll_forward(places, journal);
  if (!done) {
    if (auto undone = undo(places, journal, done.error(), report); !undone) return undone;
    return done;
  }
  if (auto retired = retire(places, report); !retired) {
    report.warn(retired.error().message, "the change is made; the next command clears up");
  }
  return {};
}

Interrupted find_interrupted(const std::string& base) {
  const Places places(base);
  if (!exists(places.transaction)) {
    return exists(places.discard) ? Interrupted::invisible : Interrupted::no;
  }
  const bool visible = exists(places.journal) || exists(places.undo);
  return visible ? Interrupted::visible : Interrupted::invisible;
}

Result<void> finish_interrupted(const std::string& base, Report& report) {
  const Places places(base);
  if (!exists(places.transaction)) {
    sweep(places);
    return {};
  }
  if (exists(places.undo)) {
    auto journal = read_journal(places.undo);
    if (!journal) return std::unexpected(journal.error());
    if (auto undone = roll_back(places, *journal, report); !undone) return undone;
    if (auto retired = retire(places, report); !retired) return retired;
    report.note(fmt::format("undid what an interrupted command had begun: {}", journal->title));
    return {};
  }
  if (exists(places.journal)) {
    auto journal = read_journal(places.journal);
    if (!journal) return std::unexpected(journal.error());
    if (auto done = roll_forward(places, *journal); !done) {
      if (auto undone = undo(places, *journal, done.error(), report); !undone) return undone;
      report.warn(
          fmt::format("undid what an interrupted command had begun ({}), since it cannot be "
                      "finished: {}",
                      journal->title, done.error().message));
      return {};
    }
    if (auto retired = retire(places, report); !retired) return retired;
    report.note(fmt::format("finished what an interrupted command had begun: {}", journal->title));
    return {};
  }
  return retire(places, report);
}

}  // namespace axle::installer
