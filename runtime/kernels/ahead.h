#pragma once
// Weights on their way from memory while others are multiplied.

#include <cstddef>
#include <cstdint>

namespace axle::runtime {
namespace {

inline constexpr std::size_t line_bytes = 64;
inline constexpr std::size_t page_bytes = 4096;
inline constexpr std::size_t pages_in_turn = 4;
/// Four pages, which begin at a multiple of their length.
inline constexpr std::size_t turn_bytes = pages_in_turn * page_bytes;
inline constexpr std::size_t round_bytes = pages_in_turn * line_bytes;

/// What is asked for while something else is multiplied, a few lines of the cache at a time: in
/// their order, or one of each of four pages in turn.
///
/// Intel's L2 prefetcher runs ahead of what is asked for, in each page by itself and by some twenty
/// lines, which for one page at the rate of memory is less than its latency; a line that is not
/// there yet takes one of the core's few fill buffers, and loads wait for those. In turn 16 rows by
/// 4096 x 4096 take 453 us, in their order 560. Which lines come in turn, the address alone says:
/// whoever goes through a column block and then through the one behind it asks for each line once.
struct Ahead {
  std::uintptr_t place;  ///< of the next line in order; in turn, of what it is asked for beside
  std::uintptr_t end;
  std::size_t lines;  ///< at a time
  bool near;          ///< into L1, else into L2
  bool in_turn;
};

/// In turn: as many bytes as there are from `from` on, `turn_bytes` or less behind them, in at most
/// `times` calls of `advance`.
[[maybe_unused]] Ahead ahead_in_turn(const void* from, std::size_t bytes, std::size_t times,
                                     bool near) {
  const auto place = reinterpret_cast<std::uintptr_t>(from);
  const std::size_t rounds = (bytes + round_bytes - 1) / round_bytes;
  return {place, place + bytes, (rounds + times - 1) / times * pages_in_turn, near, true};
}

/// While the `bytes` from `from` on are multiplied: as many, `distance` behind them, or where they
/// come in turn, about that and no less than is needed for it. That pays while reading is what
/// takes the time: with few groups of rows.
[[maybe_unused]] Ahead ahead_of(const void* from, std::size_t bytes, std::size_t distance,
                                std::size_t lines, bool near, bool in_turn) {
  if (in_turn) distance = distance > turn_bytes ? distance - turn_bytes : 0;
  const auto place = reinterpret_cast<std::uintptr_t>(from) + distance;
  return {place, place + bytes, lines, near, in_turn};
}

/// ask(line) for the lines of one call.
template <class Ask>
[[gnu::always_inline]] inline void ask_for_next(Ahead& ahead, Ask ask) {
  const std::uintptr_t end = ahead.place + ahead.lines * line_bytes;
  std::uintptr_t place = ahead.place;
  const auto ask_at = [&](std::uintptr_t line) { ask(reinterpret_cast<const char*>(line)); };
  const auto line_in_turn = [&] {
    const std::uintptr_t in_turn = place % turn_bytes;
    return place - in_turn + turn_bytes + in_turn / round_bytes * line_bytes;
  };
  if (!ahead.in_turn) {
    for (; place < end; place += line_bytes) ask_at(place);
  } else if (ahead.lines % pages_in_turn == 0) {
    for (; place < end; place += round_bytes) {
      const std::uintptr_t line = line_in_turn();
      for (std::size_t page = 0; page < pages_in_turn; ++page) ask_at(line + page * page_bytes);
    }
  } else {
    for (; place < end; place += line_bytes)
      ask_at(line_in_turn() + place / line_bytes % pages_in_turn * page_bytes);
  }
  ahead.place = place;
}

[[gnu::always_inline]] inline void advance(Ahead& ahead) {
  if (ahead.place >= ahead.end) return;
  if (ahead.near) {
    ask_for_next(ahead, [](const char* line) { __builtin_prefetch(line, 0, 3); });
  } else {
    ask_for_next(ahead, [](const char* line) { __builtin_prefetch(line, 0, 2); });
  }
}

}  // namespace
}  // namespace axle::runtime
