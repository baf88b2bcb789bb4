#pragma once
// The journal of a transaction: what is removed from the environment and what is added. A value and
// its text; recovery.h acts on it.

#include <cstdint>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "foundation/report/error.h"
#include "installer/tree/leaves.h"

namespace axle::installer {

enum class Direction : std::uint8_t { out, in };

/// One rename: `path` to old/<number>, or new/<number> to `path`. A thing is a file or a whole
/// folder.
struct Move {
  Direction direction = Direction::out;
  std::uint32_t number = 0;
  std::string path;  ///< relative to the environment's base, normal, never below `.axle`
  /// Names of the packages that it belongs to and of all that share a thing with them, in order,
  /// separated by spaces: moves of other packages have none of them.
  std::string packages;
  Leaves leaves;  ///< its content when the journal was written
  friend bool operator==(const Move&, const Move&) = default;
};

struct Journal {
  std::string title;        ///< "install torch 2.8.0", for messages
  std::vector<Move> moves;  ///< in the order in which they are made; undone in reverse
};

/// Fills in Move::packages. `own`: for each move, the names of the packages whose files it has.
void name_packages(std::vector<Move>& moves, const std::vector<std::set<std::string>>& own);

[[nodiscard]] std::string render_journal(const Journal& journal);
/// Errors: malformed (truncated, modified, or a path outside the environment), unsupported (a newer
/// format).
[[nodiscard]] Result<Journal> parse_journal(std::string_view text, std::string_view where);

}  // namespace axle::installer
