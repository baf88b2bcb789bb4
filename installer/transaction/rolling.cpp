#include "installer/transaction/rolling.h"

#include <cerrno>
#include <exception>
#include <ranges>
#include <string_view>
#include <vector>

#include <fmt/format.h>

#include "installer/file_access.h"
#include "installer/tree/byte_code_names.h"
#include "installer/tree/move_thing.h"

namespace axle::installer {
namespace {

/// Removes it from the environment.
Result<void> move_out(const std::string& visible, const std::string& kept) {
  const auto begun = exists(partial(kept));
  if (!begun) return std::unexpected(begun.error());
  int code = *begun ? EXDEV : move_thing(visible, kept);
  if (code == EXDEV) {
    // A folder that cannot be renamed as a whole (overlayfs).
    std::vector<std::string> taken;
    code = move_entries(visible, partial(kept), taken);
    if (code == 0) code = taken.empty() ? move_thing(partial(kept), kept) : EEXIST;
  }
  if (code == 0 || code == ENOENT) return {};  // another program removed it
  return std::unexpected(system_error("remove", visible, code));
}

/// Moves it back to where it was staged.
Result<void> take_back(const TransactionFolder& folder, const Move& move) {
  const std::string visible = folder.visible(move);
  const std::string staged = folder.hidden(move);
  const auto begun = exists(partial(staged));
  if (!begun) return std::unexpected(begun.error());
  const auto present = list_leaves(visible);
  if (!present) return std::unexpected(present.error());
  int code = 0;
  if (!*begun && has_only(*present, move.leaves)) {
    code = move_thing(visible, staged);
  } else {
    if (auto moved = move_known(visible, partial(staged), move.leaves); !moved) return moved;
    code = move_thing(partial(staged), staged);
  }
  if (code == 0 || code == ENOENT) return {};  // nothing of it is left
  return std::unexpected(system_error("take back", visible, code));
}

/// What cannot be restored stays hidden, and its paths are added to `taken`.
Result<void> put_back(const TransactionFolder& folder, const Move& move,
                      std::vector<std::string>& taken) {
  const std::string visible = folder.visible(move);
  const std::string kept = folder.hidden(move);
  for (const std::string& from : {partial(kept), kept}) {
    int code = from == kept ? move_thing(from, visible) : EEXIST;
    if (code == EEXIST || code == ENOTEMPTY) code = move_entries(from, visible, taken);
    if (code != 0 && code != ENOENT)
      return std::unexpected(system_error("put back", visible, code));
  }
  return {};
}

void warn_of_taken(const std::vector<std::string>& taken, Report& report) {
  if (taken.empty()) return;
  const std::string others = taken.size() == 1 ? "" : fmt::format(" and {} more", taken.size() - 1);
  report.warn(fmt::format(
      "created by another program while a command of Axle was interrupted, and kept: {}{}",
      taken.front(), others));
}

bool is_byte_code(std::string_view path) {
  return is_byte_code_folder(path) || is_byte_code_folder(path.substr(0, path.rfind('/')));
}

Result<void> make_moves(const TransactionFolder& folder, const Journal& journal,
                        const std::set<std::string>& left_alone) {
  // Once a new thing has arrived, the old one is gone, even if it was gone before.
  std::set<std::string_view> arrived;
  for (const Move& move : journal.moves) {
    if (move.direction == Direction::out) continue;
    const auto waits = exists(folder.hidden(move));
    if (!waits) return std::unexpected(waits.error());
    if (!*waits) arrived.insert(move.path);
  }
  for (const Move& move : journal.moves) {
    if (arrived.contains(move.path) || left_alone.contains(move.packages)) continue;
    const std::string visible = folder.visible(move);
    const std::string hidden = folder.hidden(move);
    if (move.direction == Direction::in) {
      const int code = move_thing(hidden, visible);
      // An interpreter may have compiled it meanwhile.
      if (code == EEXIST && is_byte_code(move.path)) continue;
      if (code != 0) return std::unexpected(system_error("install", visible, code));
      continue;
    }
    const auto done = exists(hidden);
    if (!done) return std::unexpected(done.error());
    if (*done) continue;
    if (auto moved = move_out(visible, hidden); !moved) return moved;
  }
  return {};
}

}  // namespace

Result<void> roll_forward(const TransactionFolder& folder, const Journal& journal,
                          const std::set<std::string>& left_alone) {
  try {
    return make_moves(folder, journal, left_alone);
  } catch (const std::exception& error) {  // no memory
    return fail(ErrorKind::io, fmt::format("cannot change {}: {}", folder.base, error.what()));
  }
}

Result<void> roll_back(const TransactionFolder& folder, const Journal& journal,
                       const std::set<std::string>& left_alone, Report& report) {
  std::vector<std::string> taken;
  for (const Move& move : journal.moves | std::views::reverse) {
    if (left_alone.contains(move.packages)) continue;
    if (move.direction == Direction::out) {
      if (auto put = put_back(folder, move, taken); !put) return put;
      continue;
    }
    const auto waits = exists(folder.hidden(move));
    if (!waits) return std::unexpected(waits.error());
    if (*waits) continue;  // never arrived, or already undone
    if (auto back = take_back(folder, move); !back) return back;
  }
  warn_of_taken(taken, report);
  return {};
}

}  // namespace axle::installer
