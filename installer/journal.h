#pragma once
// The journal of a transaction: which things leave the environment and which enter it. A value and
// its text; recovery.h acts on it.

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "report/error.h"

namespace axle::installer {

enum class Direction : std::uint8_t { out, in };

/// One rename: `path` to old/<number>, or new/<number> to `path`. A thing is a file or a whole
/// folder.
struct Move {
  Direction direction = Direction::out;
  std::uint32_t number = 0;
  std::string path;  ///< relative to the environment's base, normal, never below `.axle`
  friend bool operator==(const Move&, const Move&) = default;
};

struct Journal {
  std::string title;        ///< "install torch 2.8.0", for remarks
  std::vector<Move> moves;  ///< in the order in which they happen; undone backwards
};

[[nodiscard]] std::string render_journal(const Journal& journal);
/// Errors: malformed (cut, altered, or a path that leaves the environment), unsupported (a newer
/// form).
[[nodiscard]] Result<Journal> parse_journal(std::string_view text, std::string_view where);

}  // namespace axle::installer
