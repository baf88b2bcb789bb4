#include "runtime/kernels/ahead.h"

#include <set>

#include <doctest/doctest.h>

namespace axle::runtime {
namespace {

/// Lines from `from` on that `times` calls ask for, each asked for once.
std::set<std::size_t> lines_asked_for(const char* from, Ahead ahead, std::size_t times) {
  std::set<std::size_t> lines;
  for (std::size_t i = 0; i < times && ahead.next < ahead.end; ++i) {
    ask_for_next(ahead, [&](const char* line) {
      const auto [place, is_new] = lines.insert(static_cast<std::size_t>(line - from) / line_bytes);
      CHECK(is_new);
    });
  }
  CHECK(ahead.next >= ahead.end);
  return lines;
}

}  // namespace

TEST_CASE("what is asked for ahead has all been asked for after as many calls as were named") {
  static char memory[std::size_t{1} << 18];
  for (const std::size_t slabs : {1UL, 3UL, 4UL, 5UL, 32UL}) {
    for (const std::size_t times_a_slab : {1UL, 4UL, 8UL, 12UL, 16UL, 64UL}) {
      CAPTURE(slabs);
      CAPTURE(times_a_slab);
      const std::size_t times = slabs * times_a_slab;
      const std::size_t bytes = slabs * page_bytes;
      const std::set<std::size_t> lines =
          lines_asked_for(memory, ahead_for(memory, bytes, times, false), times);
      // Whole turns of four pages, from the first line on.
      CHECK(lines.size() == (slabs + 3) / 4 * bytes_in_turn / line_bytes);
      CHECK(*lines.begin() == 0);
      CHECK(*lines.rbegin() == lines.size() - 1);
    }
  }
}

TEST_CASE("what is asked for ahead comes from four pages in turn") {
  static char memory[bytes_in_turn];
  Ahead ahead = ahead_for(memory, bytes_in_turn, rounds_a_turn, true);
  std::size_t page = 0;
  ask_for_next(ahead, [&](const char* line) { CHECK(line == memory + page++ * page_bytes); });
  CHECK(page == pages_in_turn);
  page = 0;
  ask_for_next(ahead,
               [&](const char* line) { CHECK(line == memory + line_bytes + page++ * page_bytes); });
  CHECK(ahead.next == memory + 2 * line_bytes);
}

}  // namespace axle::runtime
