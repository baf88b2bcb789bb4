// Runs every tests/cases/conflicts/*.conflict through the whole solver. AXLE_UPDATE_GOLDEN writes
// what it says now.

#include "tests/resolver/conflict/conflict_case.h"

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <random>
#include <set>
#include <string>
#include <vector>

#include <doctest/doctest.h>

#include "plan/conflict.h"

namespace testing = axle::testing;

namespace {

constexpr std::ptrdiff_t most_lines = 12;

std::vector<std::string> conflict_paths() {
  std::vector<std::string> paths;
  for (const auto& entry : std::filesystem::directory_iterator(AXLE_CASES "/conflicts")) {
    if (entry.path().extension() == ".conflict") paths.push_back(entry.path().string());
  }
  std::ranges::sort(paths);
  return paths;
}

/// Each statement rests on earlier ones, and the last one is the conflict.
void check_derivation(const axle::plan::Conflict& conflict) {
  if (conflict.statements.empty()) return;
  std::vector<bool> used(conflict.statements.size(), false);
  for (std::size_t i = 0; i < conflict.statements.size(); ++i) {
    const axle::plan::Statement& statement = conflict.statements[i];
    CHECK_FALSE(statement.text.empty());
    CHECK((statement.kind == axle::plan::StatementKind::conclusion) == !statement.from.empty());
    for (const std::size_t from : statement.from) {
      REQUIRE(from < i);
      used[from] = true;
    }
  }
  used.back() = true;
  CHECK(std::ranges::find(used, false) == used.end());
}

}  // namespace

/// Packages a to e with up to four versions each, of which many do not go together.
void publish_at_random(testing::World& world, std::mt19937& random) {
  const auto below = [&](unsigned end) { return static_cast<unsigned>(random() % end); };
  const std::string names = "abcde";
  for (const char name : names) {
    const unsigned versions = 1 + below(4);
    for (unsigned version = 1; version <= versions; ++version) {
      testing::WheelRecipe recipe{.name = std::string(1, name),
                                  .version = std::to_string(version) + ".0"};
      for (unsigned needs = below(3); needs > 0; --needs) {
        const char* const comparisons[] = {"<", ">=", "=="};
        recipe.requires_dist.push_back(std::string(1, names[below(5)]) + comparisons[below(3)] +
                                       std::to_string(1 + below(4)) + ".0");
      }
      if (below(8) == 0) recipe.tags = "cp27-none-any";
      world.index.add_wheel(recipe).yanked = below(8) == 0;
    }
  }
}

TEST_CASE("every conflict is told as its file says, in twelve lines at most") {
  const std::vector<std::string> paths = conflict_paths();
  REQUIRE(paths.size() >= 20);
  for (const std::string& path : paths) {
    CAPTURE(path);
    testing::ConflictCase file(path);
    const std::string outcome = file.outcome();
    CHECK_FALSE(outcome.empty());
    CHECK(std::ranges::count(outcome, '\n') <= most_lines);
    check_derivation(file.unresolved().conflict);
    if (std::getenv("AXLE_UPDATE_GOLDEN") != nullptr) file.expect(outcome);
    CHECK(outcome == testing::ConflictCase(path).expected());
  }
}

TEST_CASE("random conflicts are told in a few lines, each with its derivation") {
  std::mt19937 random(20261122);  // NOLINT(cert-msc51-cpp): the same on every run
  unsigned conflicts = 0;
  std::set<std::string> messages;
  for (int round = 0; round < 400; ++round) {
    CAPTURE(round);
    testing::World world;
    publish_at_random(world, random);
    const auto resolution = world.try_resolve({"a", "b>=2", "c<3"});
    if (resolution) continue;
    const axle::resolver::Unresolved& unresolved = resolution.error();
    ++conflicts;
    messages.insert(unresolved.message);
    CHECK_FALSE(unresolved.conflict.statements.empty());
    CHECK_FALSE(unresolved.conflict.package.empty());
    check_derivation(unresolved.conflict);
    CHECK(axle::plan::short_lines(unresolved.conflict).size() + 2 <= most_lines);
    CHECK_FALSE(unresolved.message.contains("contradict each other"));
    // The package that it comes down to is named.
    CHECK(unresolved.message.contains(unresolved.conflict.package));
  }
  CHECK(conflicts > 100);
  CHECK(messages.size() > 50);
}
