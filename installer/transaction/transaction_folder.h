#pragma once
// The paths of a transaction's things (transaction.h describes the state folder).

#include <string>

#include <fmt/format.h>

#include "installer/transaction/journal.h"

namespace axle::installer {

struct TransactionFolder {
  explicit TransactionFolder(const std::string& environment)
      : base(environment),
        state(environment + "/.axle"),
        path(state + "/transaction"),
        discard(state + "/discard"),
        journal(path + "/journal"),
        undo(path + "/undo") {}

  /// The path of the thing of `move` while it is not in the environment.
  [[nodiscard]] std::string hidden(const Move& move) const {
    return fmt::format("{}/{}/{}", path, move.direction == Direction::out ? "old" : "new",
                       move.number);
  }
  [[nodiscard]] std::string visible(const Move& move) const { return base + "/" + move.path; }

  std::string base;
  std::string state;
  std::string path;
  std::string discard;
  std::string journal;
  std::string undo;
};

/// A thing that is moved to `hidden` entry by entry: it gets its number only when its last entry
/// has arrived.
[[nodiscard]] inline std::string partial(const std::string& hidden) { return hidden + ".partial"; }

}  // namespace axle::installer
