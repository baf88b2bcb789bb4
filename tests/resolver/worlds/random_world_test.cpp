// The solver over what indexes publish, against an exhaustive search and a checker that know
// nothing of it. sat_oracle.py does the same to larger worlds.

#include "tests/resolver/worlds/random_world.h"

#include <cstdint>
#include <string>

#include <doctest/doctest.h>

#include "tests/resolver/worlds/world_rules.h"
#include "tests/support/rounds.h"

namespace axle::testing {
namespace {

std::string described(const PublishedWorld& world, const WorldAnswer& answer) {
  return nlohmann::json(world).dump() + "\n" + nlohmann::json(answer).dump();
}

TEST_CASE("random worlds: solved where there is a solution, and by the rules") {
  constexpr WorldShape small{.packages = 5, .releases = 4, .variants = 2};
  unsigned solved = 0;
  unsigned refused = 0;
  for (std::uint32_t seed = 1; seed <= axle::tests::rounds(3000); ++seed) {
    const PublishedWorld world = random_world(seed, small);
    const WorldAnswer made = answer(world);
    if (made.solved) {
      ++solved;
      CHECK_MESSAGE(broken_rule(world, made) == "", described(world, made));
      if (!world.installed.empty()) continue;
      CHECK_MESSAGE(could_be_better(world, made).value_or("") == "", described(world, made));
      continue;
    }
    ++refused;
    if (made.breaks_installed || made.changes_backend) continue;
    CHECK_MESSAGE(!has_solution(world, Wishes::needless).value_or(false), described(world, made));
  }
  CHECK(solved > axle::tests::rounds(800));
  CHECK(refused > axle::tests::rounds(300));
}

}  // namespace
}  // namespace axle::testing
