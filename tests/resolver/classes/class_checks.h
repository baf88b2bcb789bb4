#pragma once
// Classes of machines that are checked against every machine of a grid.

#include <string>
#include <string_view>
#include <vector>

#include <doctest/doctest.h>

#include "tests/resolver/classes/class_world.h"

namespace axle::resolver {

inline FactValues linux_machine(FactValues more = {}) {
  more.insert({{"system", "linux"}, {"arch", "x86_64"}, {"libc", "glibc 2.36"}});
  return more;
}

/// The class of the machine with these facts, checked against `grid`.
inline std::string weakest(testing::ClassWorld& world, ClassSolver& solver, const FactValues& own,
                           const testing::Grid& grid) {
  const auto answer = solver.solve(machine_with(own));
  REQUIRE_MESSAGE(answer.has_value(), answer.error().message);
  CHECK_FALSE(answer->bounded);
  CHECK(answer_of(answer->resolution) == world.answer(own));
  world.check_weakest(answer->holds, own, grid);
  const std::string text = render_predicate(answer->holds);
  const auto again = parse_predicate(text);
  REQUIRE_MESSAGE(again.has_value(), text << ": " << again.error().message);
  CHECK(*again == answer->holds);
  return text;
}

inline std::string weakest(testing::ClassWorld& world, const std::vector<std::string>& requirements,
                           const FactValues& own, const testing::Grid& grid) {
  ClassSolver solver = world.solver(requirements);
  return weakest(world, solver, own, grid);
}

inline FactValues mac(std::string_view version, FactValues more = {}) {
  more.insert({{"system", "darwin"}, {"arch", "aarch64"}, {"macos", std::string(version)}});
  return more;
}

inline FactValues windows(FactValues more = {}) {
  more.insert({{"system", "windows"}, {"arch", "x86_64"}});
  return more;
}

inline const testing::Grid platforms = {
    {"system", {"linux", "darwin", "windows"}},
    {"arch", {"x86_64", "aarch64", "other"}},
    {"macos",
     {"", "10.8", "10.9", "10.15", "11.0", "12.0", "13.0", "14.0", "15.0", "26.0", "27.0", "40.0"}},
    {"libc",
     {"", "glibc 2.5", "glibc 2.16", "glibc 2.17", "glibc 2.27", "glibc 2.28", "glibc 2.36",
      "glibc 2.60", "musl 1.1", "musl 1.2"}}};

inline testing::Grid platforms_and(testing::Grid more) {
  more["system"] = {"linux", "darwin", "windows"};
  more["macos"] = {"", "10.15", "11.0", "13.0", "14.0", "40.0"};
  more["arch"] = {"x86_64", "aarch64"};
  more["libc"] = {"", "glibc 2.16", "glibc 2.17", "glibc 2.36", "musl 1.2"};
  return more;
}

}  // namespace axle::resolver
