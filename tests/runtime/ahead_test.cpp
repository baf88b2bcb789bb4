#include "runtime/kernels/ahead.h"

#include <map>

#include <doctest/doctest.h>

namespace axle::runtime {
namespace {

/// How often each line has been asked for: its place behind `from`.
using Lines = std::map<std::ptrdiff_t, int>;

void ask_for_all(const char* from, Ahead ahead, std::size_t times, Lines& lines) {
  for (std::size_t i = 0; i < times && ahead.place < ahead.end; ++i)
    ask_for_next(ahead, [&](const char* line) { ++lines[(line - from) / std::ptrdiff_t{64}]; });
  CHECK(ahead.place >= ahead.end);
}

bool each_once(const Lines& lines, std::ptrdiff_t first, std::ptrdiff_t end) {
  bool once = lines.size() == static_cast<std::size_t>(end - first);
  for (const auto& [line, count] : lines) once = once && count == 1 && line >= first && line < end;
  return once;
}

constexpr auto lines_a_turn = static_cast<std::ptrdiff_t>(turn_bytes / line_bytes);

alignas(turn_bytes) char memory[std::size_t{1} << 18];

}  // namespace

TEST_CASE("what is asked for ahead has all been asked for after as many calls as were named") {
  for (const std::size_t slabs : {1UL, 3UL, 4UL, 5UL, 9UL, 32UL}) {
    for (const std::size_t times_a_slab : {1UL, 4UL, 8UL, 12UL, 16UL, 64UL}) {
      CAPTURE(slabs);
      CAPTURE(times_a_slab);
      const std::size_t times = slabs * times_a_slab;
      Lines lines;
      ask_for_all(memory, ahead_in_turn(memory, slabs * page_bytes, times, false), times, lines);
      std::size_t asked = 0;
      for (const auto& [line, count] : lines) asked += static_cast<std::size_t>(count);
      // As much as there is, but for what the last call asks for too much.
      CHECK(asked >= slabs * page_bytes / line_bytes);
      CHECK(asked < slabs * page_bytes / line_bytes + times + pages_in_turn);
      CHECK(lines.begin()->first == lines_a_turn);
    }
  }
}

TEST_CASE("column blocks behind each other ask for each line once, wherever they begin") {
  // 9 slabs of int8 or of nibbles, 3 of int8: no multiple of a turn.
  for (const std::size_t block : {9 * 4096UL, 9 * 2048UL, 3 * 4096UL}) {
    for (const std::size_t lines_at_a_time : {1UL, 2UL, 3UL, 4UL, 8UL, 16UL}) {
      for (const std::size_t start : {0UL, 64UL, 9 * 2048UL}) {
        CAPTURE(block);
        CAPTURE(lines_at_a_time);
        CAPTURE(start);
        Lines lines;
        std::size_t at = start;
        for (; at < start + 9 * turn_bytes; at += block)
          ask_for_all(memory, ahead_of(memory + at, block, 0, lines_at_a_time, true, true),
                      block / line_bytes, lines);
        // The turn behind each that has been gone through as a whole.
        const std::size_t first = (start + turn_bytes - 1) / turn_bytes + 1;
        const std::size_t end = at / turn_bytes + 1;
        CHECK(end - first >= 8);
        for (std::size_t turn = first; turn < end; ++turn) {
          const auto line = static_cast<std::ptrdiff_t>(turn) * lines_a_turn;
          const Lines of_turn(lines.lower_bound(line), lines.lower_bound(line + lines_a_turn));
          CHECK(each_once(of_turn, line, line + lines_a_turn));
        }
      }
    }
  }
}

TEST_CASE("what is asked for in order lies as far behind as was said") {
  Lines lines;
  ask_for_all(memory, ahead_of(memory, 4096, 8192, 3, false, false), 22, lines);
  // 22 calls of three lines: two more than 4096 bytes have.
  CHECK(each_once(lines, 8192 / 64, 8192 / 64 + 66));
}

TEST_CASE("in turn, no more than what is needed is asked for behind what lies near") {
  CHECK(ahead_of(memory, 4096, 8192, 4, true, true).place ==
        reinterpret_cast<std::uintptr_t>(memory));
  CHECK(ahead_of(memory, 4096, 32768, 4, true, true).place ==
        reinterpret_cast<std::uintptr_t>(memory) + 32768 - turn_bytes);
}

TEST_CASE("what is asked for in turn comes from four pages, line by line or four lines at a time") {
  for (const std::size_t lines_at_a_time : {1UL, 4UL}) {
    Ahead ahead = ahead_of(memory, turn_bytes, 0, lines_at_a_time, true, true);
    std::size_t asked = 0;
    while (asked < 8) {
      ask_for_next(ahead, [&](const char* line) {
        CHECK(line == memory + turn_bytes + asked % 4 * page_bytes + asked / 4 * line_bytes);
        ++asked;
      });
    }
    CHECK(asked == 8);
  }
}

}  // namespace axle::runtime
