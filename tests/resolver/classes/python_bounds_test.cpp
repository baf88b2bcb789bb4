// For which patch releases of Python an answer holds: against every release, one by one.

#include "resolver/classes/python_bounds.h"

#include <algorithm>
#include <random>
#include <string>
#include <vector>

#include <doctest/doctest.h>
#include <fmt/format.h>

#include "tests/resolver/classes/class_world.h"

namespace axle::resolver {
namespace {

wheel::Version python(unsigned patch) { return testing::version(fmt::format("3.11.{}", patch)); }

std::string around(const std::vector<std::string>& specifiers, unsigned patch) {
  PythonBounds bounds;
  for (const std::string& text : specifiers)
    bounds.note(*wheel::parse_specifiers(text), python(patch));
  return bounds.releases_around(python(patch));
}

TEST_CASE("bounds lie where a specifier changes its mind") {
  CHECK(around({}, 4).empty());
  CHECK(around({">=3.9", "<4", "!=3.10.*", "==3.11.*", "~=3.8"}, 4).empty());
  CHECK(around({">=3.11.3"}, 4) == ">=3.11.3");
  CHECK(around({">=3.11.5"}, 4) == "<3.11.5");
  CHECK(around({"<=3.11.4"}, 4) == "<3.11.5");
  CHECK(around({">3.11.4"}, 5) == ">=3.11.5");
  CHECK(around({"!=3.11.3"}, 3) == ">=3.11.3,<3.11.4");
  CHECK(around({"!=3.11.3.*"}, 2) == "<3.11.3");
  // Only 3.11.0 is 3.11.
  CHECK(around({">3.11"}, 2) == ">=3.11.1");
  // No final release is before it or is it.
  CHECK(around({"<=3.11.0a6", "!=3.11.0rc1"}, 2).empty());
  CHECK(around({"<3.11.4rc1"}, 2) == "<3.11.4");
}

TEST_CASE("random specifiers: what lies between the bounds is all alike") {
  std::mt19937 random(5);  // NOLINT(cert-msc32-c,cert-msc51-cpp): the same every time
  const std::vector<std::string> operators = {">=", "<=", ">", "<", "==", "!=", "~="};
  const std::vector<std::string> ends = {"", "", "", "rc1", "a2"};
  for (unsigned round = 0; round < 2000; ++round) {
    std::vector<wheel::SpecifierSet> sets;
    PythonBounds bounds;
    const unsigned own = random() % 12;
    for (unsigned i = 0, count = random() % 4; i < count; ++i) {
      const std::string text =
          fmt::format("{}3.{}.{}{}", operators[random() % operators.size()], 10 + random() % 3,
                      random() % 10, ends[random() % ends.size()]);
      sets.push_back(*wheel::parse_specifiers(text));
      bounds.note(sets.back(), python(own));
    }
    const std::string text = bounds.releases_around(python(own));
    CAPTURE(text);
    const auto releases = *wheel::parse_specifiers(text);
    CHECK(releases.contains(python(own)));
    const auto alike = [&](unsigned patch) {
      return std::ranges::all_of(sets, [&](const wheel::SpecifierSet& set) {
        return set.contains(python(patch)) == set.contains(python(own));
      });
    };
    for (unsigned patch = 0; patch < 14; ++patch) {
      if (releases.contains(python(patch))) CHECK(alike(patch));
    }
  }
}

TEST_CASE("markers and Requires-Python of what was looked at bound a class's Python") {
  testing::ClassWorld world;
  world.index.add_wheel({.name = "demo",
                         .version = "1.0",
                         .requires_dist = {"part; python_full_version < '3.11.3'",
                                           "other; python_version < '3.12'"}});
  world.index.add_wheel({.name = "part", .version = "1.0"});
  world.index.add_wheel({.name = "other", .version = "1.0"});
  world.index.add_wheel({.name = "other", .version = "2.0", .requires_python = ">=3.11.40"});
  const auto answer = world.solver({"demo"}).solve(
      machine_with({{"system", "linux"}, {"arch", "x86_64"}, {"libc", "glibc 2.36"}}));
  REQUIRE(answer.has_value());
  const wheel::Version own = world.target.python_version;
  const bool has_part = std::ranges::any_of(
      answer->resolution.packages, [](const auto& package) { return package.name == "part"; });
  CHECK(has_part == (own < python(3)));
  CHECK(answer->python_releases == (has_part ? "<3.11.3" : ">=3.11.3,<3.11.40"));
}

}  // namespace
}  // namespace axle::resolver
