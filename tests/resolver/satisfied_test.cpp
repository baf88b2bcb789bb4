// What is installed and all that is asked for is found without a search, which must answer the
// same.

#include <algorithm>
#include <random>
#include <string>
#include <vector>

#include <doctest/doctest.h>
#include <fmt/format.h>

#include "tests/resolver/solver_world.h"
#include "tests/support/rounds.h"
#include "wheel/requirement.h"

namespace axle::testing {
namespace {

using Strings = std::vector<std::string>;

/// Everything that is said of the packages but of "unknown".
Strings described(const plan::Resolution& resolution) {
  Strings lines;
  for (const plan::ResolvedPackage& package : resolution.packages) {
    if (package.name == "unknown") continue;
    std::string line = fmt::format(
        "{} {} {} {}", package.name, wheel::render_version(package.version),
        package.already_installed ? "installed" : "new", package.requested ? "requested" : "");
    for (const std::string& owner : package.required_by) line += " <- " + owner;
    Strings needs;
    for (const wheel::Requirement& need : package.dependencies)
      needs.push_back(wheel::render_requirement(need));
    std::ranges::sort(needs);
    for (const std::string& need : needs) line += " -> " + need;
    line += " because " + package.decision.chosen_because;
    lines.push_back(std::move(line));
  }
  return lines;
}

class RandomWorld {
 public:
  explicit RandomWorld(unsigned seed) : chance_(seed) {}

  std::string requirement_of(std::size_t package) {
    std::string text = name(package);
    if (one_in(4)) text += one_in(2) ? "[x]" : "[x,y]";
    if (one_in(3)) text += fmt::format("{}{}", pick({">=", "<=", "!=", "==", "<"}), version());
    if (one_in(6)) text += "; python_version >= '3.8'";
    return text;
  }

  /// What a package requires of those behind it, and now and then of itself or one before it.
  Strings requirements_of(std::size_t package) {
    Strings all;
    for (std::size_t other = 0; other < packages; ++other) {
      const bool usual = other > package;
      if (!one_in(usual ? 3 : 12)) continue;
      std::string text = requirement_of(other);
      if (!text.contains(';') && one_in(3)) {
        text += pick({"; extra == 'x'", "; extra == 'y'", "; extra == 'x' and python_version > '3'",
                      "; sys_platform == 'win32'"});
      }
      all.push_back(std::move(text));
    }
    return all;
  }

  void fill(World& world) {
    world.index.add_wheel({.name = "unknown", .version = "1.0"});
    for (std::size_t package = 0; package < packages; ++package) {
      for (const char* number : {"1.0", "2.0", "3.0"}) {
        world.index.add_wheel(
            {.name = name(package), .version = number, .requires_dist = requirements_of(package)});
      }
      if (!one_in(8)) world.install(name(package), version(), requirements_of(package));
    }
    if (one_in(4)) world.constraints.push_back(name(below(packages)) + ">=" + version());
    if (one_in(8)) world.options.dependencies = false;
    if (one_in(8)) world.options.upgrade_of.insert(name(below(packages)));
    if (one_in(8)) world.options.reinstall_of.insert(name(below(packages)));
  }

  Strings requests() {
    Strings all;
    for (std::size_t i = 0; i <= below(2); ++i) all.push_back(requirement_of(below(packages)));
    return all;
  }

 private:
  static constexpr std::size_t packages = 7;
  static std::string name(std::size_t package) { return fmt::format("p{}", package); }
  std::size_t below(std::size_t end) { return chance_() % end; }
  bool one_in(std::size_t count) { return below(count) == 0; }
  std::string pick(const Strings& of) { return of[below(of.size())]; }
  std::string version() { return pick({"1.0", "2.0", "3.0", "2.0", "2.0"}); }

  std::mt19937 chance_;
};

TEST_CASE("what is satisfied is described as a search describes it") {
  std::size_t satisfied = 0;
  std::size_t changed = 0;
  for (unsigned seed = 0; seed < axle::tests::rounds(1500); ++seed) {
    CAPTURE(seed);
    RandomWorld chance(seed);
    World world;
    chance.fill(world);
    Strings asked = chance.requests();
    const auto alone = world.try_resolve(asked);
    // With one more that is not installed there is a search.
    asked.emplace_back("unknown");
    const auto searched = world.try_resolve(asked);
    REQUIRE(alone.has_value() == searched.has_value());
    if (!alone) continue;
    CHECK(described(*alone) == described(*searched));
    const bool is_satisfied =
        std::ranges::all_of(alone->packages, &plan::ResolvedPackage::already_installed);
    ++(is_satisfied ? satisfied : changed);
  }
  CHECK(satisfied > axle::tests::rounds(150));
  CHECK(changed > axle::tests::rounds(150));
}

}  // namespace
}  // namespace axle::testing
