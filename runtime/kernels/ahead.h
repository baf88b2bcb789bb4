#pragma once
// Weights on their way from memory while something else is multiplied.

#include <cstddef>

namespace axle::runtime {
namespace {

/// What is asked for while something else is multiplied, a few lines of the cache at a time: one of
/// each of four pages, then the next ones. The hardware prefetcher runs ahead of what is asked for,
/// in each page by itself and by some twenty lines, which for one page at the rate of memory is
/// less than its latency; a line that is not there yet takes one of the core's few fill buffers,
/// and the loads of tiles wait for those. 16 rows by 4096 x 4096 take 453 us so, and 560 with the
/// lines in their order.
struct Ahead {
  const char* next;
  const char* end;
  std::size_t rounds;  ///< at a time, of a line of each page: a power of two
  std::size_t left;    ///< of these four pages
  bool near;           ///< into L1, else into L2
};

inline constexpr std::size_t line_bytes = 64;
inline constexpr std::size_t page_bytes = 4096;
inline constexpr std::size_t pages_in_turn = 4;
inline constexpr std::size_t bytes_in_turn = pages_in_turn * page_bytes;
inline constexpr std::size_t rounds_a_turn = page_bytes / line_bytes;

/// `bytes` from `from` on, in at most `times` calls of `advance`.
Ahead ahead_for(const void* from, std::size_t bytes, std::size_t times, bool near) {
  const char* const next = static_cast<const char*>(from);
  const std::size_t turns = (bytes + bytes_in_turn - 1) / bytes_in_turn;
  std::size_t rounds = 1;
  while (rounds < rounds_a_turn && rounds * times < turns * rounds_a_turn) rounds *= 2;
  return {next, next + turns * bytes_in_turn, rounds, rounds_a_turn, near};
}

/// ask(line) for the lines of one call.
template <class Ask>
[[gnu::always_inline]] inline void ask_for_next(Ahead& ahead, Ask ask) {
  const char* next = ahead.next;
  for (std::size_t round = 0; round < ahead.rounds; ++round) {
    ask(next);
    ask(next + page_bytes);
    ask(next + 2 * page_bytes);
    ask(next + 3 * page_bytes);
    next += line_bytes;
  }
  ahead.left -= ahead.rounds;
  if (ahead.left == 0) {
    ahead.left = rounds_a_turn;
    next += bytes_in_turn - page_bytes;
  }
  ahead.next = next;
}

[[gnu::always_inline]] inline void advance(Ahead& ahead) {
  if (ahead.next >= ahead.end) return;
  if (ahead.near) {
    ask_for_next(ahead, [](const char* line) { __builtin_prefetch(line, 0, 3); });
  } else {
    ask_for_next(ahead, [](const char* line) { __builtin_prefetch(line, 0, 2); });
  }
}

}  // namespace
}  // namespace axle::runtime
