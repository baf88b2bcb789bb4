// Fewer builds for a fleet, and choices within a budget: against all choices of random worlds.

#include <algorithm>
#include <optional>
#include <random>
#include <set>
#include <string>
#include <vector>

#include <doctest/doctest.h>

#include "resolver/fleet/download_budget.h"
#include "resolver/fleet/fewest_builds.h"
#include "resolver/solver/solver.h"
#include "tests/resolver/classes/class_checks.h"
#include "tests/resolver/classes/class_world.h"
#include "tests/resolver/family_world.h"
#include "tests/support/rounds.h"

namespace axle::resolver {
namespace {

using testing::publish_builds;
using testing::World;

/// Machines that resolve the same requirements.
class Fleet {
 public:
  Fleet(World& world, const std::vector<std::string>& requirements,
        const std::vector<FactValues>& machines)
      : world_(world) {
    for (const std::string& text : requirements)
      requests_.requirements.push_back({testing::requirement(text)});
    for (const FactValues& facts : machines) machines_.push_back(machine_with(facts));
  }

  [[nodiscard]] std::size_t size() const { return machines_.size(); }

  std::expected<plan::Resolution, Unresolved> solve(std::size_t machine,
                                                    const WithheldBuilds& withheld = {}) {
    Options options = world_.options;
    options.withheld = withheld;
    Sources sources = world_.sources;
    sources.families = world_.use_families ? &world_.families : nullptr;
    return resolve(requests_, *testing::target_on(machines_[machine]), {}, sources, options,
                   world_.report);
  }

  SolveWithout solver() {
    return [this](std::size_t machine, const WithheldBuilds& withheld) {
      return solve(machine, withheld);
    };
  }

  std::vector<plan::Resolution> best() {
    std::vector<plan::Resolution> answers;
    for (std::size_t machine = 0; machine < size(); ++machine) {
      auto answer = solve(machine);
      REQUIRE_MESSAGE(answer.has_value(), answer.error().message);
      answers.push_back(*std::move(answer));
    }
    return answers;
  }

  /// By machine the label of `name` with the fewest builds.
  std::vector<std::string> shared(const std::string& name) {
    const WithheldBuilds withheld = fewest_builds(best(), solver());
    std::vector<std::string> labels;
    for (std::size_t machine = 0; machine < size(); ++machine)
      labels.push_back(label_of(solve(machine, withheld), name));
    return labels;
  }

  static std::string label_of(const std::expected<plan::Resolution, Unresolved>& answer,
                              const std::string& name) {
    if (!answer) return "none";
    const auto package = std::ranges::find(answer->packages, name, &plan::ResolvedPackage::name);
    REQUIRE(package != answer->packages.end());
    return package->variant.value_or("");
  }

  /// The label within a budget, or the error.
  std::string affordable(const std::string& name, std::uint64_t bytes) {
    const auto found = within_budget(
        *solve(0), bytes, {}, [&](const WithheldBuilds& withheld) { return solve(0, withheld); });
    if (!found) return found.error().message;
    return label_of(solve(0, found->withheld), name) + (found->lesser.empty() ? "" : " (lesser)");
  }

 private:
  World& world_;
  Requests requests_;
  std::vector<detect::Machine> machines_;
};

using Labels = std::vector<std::string>;

TEST_CASE("machines share a build that suits all of them, and nobody loses what it has") {
  World world;
  publish_builds(world, "demo", "1.0",
                 {{"v4", {"x86_64 :: level :: v4"}},
                  {"v3", {"x86_64 :: level :: v3"}},
                  {"v2", {"x86_64 :: level :: v2"}},
                  {"null", {}}});
  const FactValues v2 = linux_machine({{"x86_64", "v2"}});
  const FactValues v3 = linux_machine({{"x86_64", "v3"}});
  const FactValues v4 = linux_machine({{"x86_64", "v4"}});
  CHECK(Fleet(world, {"demo"}, {v3, v4, v4}).shared("demo") == Labels{"v3", "v3", "v3"});
  CHECK(Fleet(world, {"demo"}, {v2, v3, v4}).shared("demo") == Labels{"v2", "v2", "v2"});
  CHECK(Fleet(world, {"demo"}, {v4}).shared("demo") == Labels{"v4"});
  // What needs nothing is no build for who has something; its own best stays.
  const FactValues v1 = linux_machine({{"x86_64", "v1"}});
  CHECK(Fleet(world, {"demo"}, {v1, v3, v4}).shared("demo") == Labels{"null", "v3", "v3"});
}

TEST_CASE("of builds for GPUs one may serve several kinds, and the processor's is for none") {
  World world;
  publish_builds(world, "demo", "1.0",
                 {{"cu132",
                   {"nvidia :: cuda_version_lower_bound :: 13.2", "nvidia :: sm_arch :: 90_real",
                    "nvidia :: sm_arch :: 120_real"}},
                  {"cu126",
                   {"nvidia :: cuda_version_lower_bound :: 12.6", "nvidia :: sm_arch :: 60_real",
                    "nvidia :: sm_arch :: 90_real"}},
                  {"rocm", {"amd :: gfx_arch :: gfx942"}},
                  {"v3", {"x86_64 :: level :: v3"}}});
  const FactValues h100 = linux_machine({{"driver", "13.2"}, {"sm", "90"}, {"x86_64", "v3"}});
  const FactValues p100 = linux_machine({{"driver", "13.2"}, {"sm", "60"}, {"x86_64", "v3"}});
  const FactValues blackwell = linux_machine({{"driver", "13.2"}, {"sm", "120"}});
  const FactValues mi300 = linux_machine({{"gfx", "gfx942"}, {"rocm", "6.4"}});
  const FactValues laptop = linux_machine({{"x86_64", "v3"}});
  CHECK(Fleet(world, {"demo"}, {h100, p100}).best()[0].packages[0].variant == "cu132");
  CHECK(Fleet(world, {"demo"}, {h100, p100, laptop}).shared("demo") ==
        Labels{"cu126", "cu126", "v3"});
  // Nothing is won: two kinds need two builds, and the best of each stays.
  CHECK(Fleet(world, {"demo"}, {h100, p100, blackwell}).shared("demo") ==
        Labels{"cu132", "cu126", "cu132"});
  CHECK(Fleet(world, {"demo"}, {h100, mi300}).shared("demo") == Labels{"cu132", "rocm"});
}

TEST_CASE("an older release is no way to fewer builds") {
  World world;
  publish_builds(world, "demo", "2.0", {{"v4", {"x86_64 :: level :: v4"}}, {"null", {}}});
  publish_builds(world, "demo", "1.0", {{"v3", {"x86_64 :: level :: v3"}}, {"null", {}}});
  const FactValues v3 = linux_machine({{"x86_64", "v3"}});
  const FactValues v4 = linux_machine({{"x86_64", "v4"}});
  Fleet fleet(world, {"demo"}, {v3, v4});
  CHECK(fleet.shared("demo") == Labels{"null", "v4"});
}

TEST_CASE("a budget takes the best build that is small enough") {
  World world;
  publish_builds(
      world, "demo", "1.0",
      {{"cu132", {"nvidia :: cuda_version_lower_bound :: 13.2", "nvidia :: sm_arch :: 90_real"}},
       {"cu126", {"nvidia :: cuda_version_lower_bound :: 12.6", "nvidia :: sm_arch :: 90_real"}},
       {"null", {}}},
      "cp311-cp311-manylinux_2_17_x86_64", {{"cu132", {"libs"}}},
      {{"cu132", 500}, {"cu126", 900}, {"null", 100}});
  world.index.add_wheel({.name = "libs", .version = "1.0"}).size = 700;
  Fleet fleet(world, {"demo"}, {linux_machine({{"driver", "13.2"}, {"sm", "90"}})});
  CHECK(fleet.affordable("demo", 1200) == "cu132");
  CHECK(fleet.affordable("demo", 1199) == "cu126");  // it needs no libs
  CHECK(fleet.affordable("demo", 899) == "null (lesser)");
  CHECK(fleet.affordable("demo", 99) ==
        "the smallest choice that was found downloads 100 B, and the budget is 99 B");
}

TEST_CASE("a budget that only lesser builds meet is met among many that are alike") {
  World world;
  const std::vector<std::string> names = {"one", "two", "three"};
  for (const std::string& name : names) {
    std::map<std::string, std::vector<std::string>> builds = {{"null", {}}};
    std::map<std::string, std::vector<std::string>> needs;
    std::map<std::string, std::uint64_t> bytes = {{"null", 10}};
    for (unsigned i = 0; i < 6; ++i) {
      const std::string label = "cu12" + std::to_string(i);
      builds[label] = {"nvidia :: cuda_version_lower_bound :: 12." + std::to_string(i),
                       "nvidia :: sm_arch :: 90_real"};
      needs[label] = {"libs"};
      bytes[label] = 10;
    }
    publish_builds(world, name, "1.0", builds, "cp311-cp311-manylinux_2_17_x86_64", needs, bytes);
  }
  world.index.add_wheel({.name = "libs", .version = "1.0"}).size = 1000;
  Fleet fleet(world, names, {linux_machine({{"driver", "13.2"}, {"sm", "90"}})});
  CHECK(fleet.affordable("one", 1030) == "cu125");
  CHECK(fleet.affordable("one", 500) == "null (lesser)");
}

TEST_CASE("what is withheld is no build, and the reason of a choice says so") {
  World world;
  publish_builds(world, "demo", "1.0",
                 {{"v4", {"x86_64 :: level :: v4"}}, {"v3", {"x86_64 :: level :: v3"}}});
  Fleet fleet(world, {"demo"}, {linux_machine({{"x86_64", "v4"}})});
  const auto answer = fleet.solve(0, {{"demo", {"v4"}}});
  REQUIRE(answer.has_value());
  const plan::Decision& decision = answer->packages.at(0).decision;
  CHECK(decision.chosen_because ==
        "x86_64 :: level :: v3 is supported and ranks first; v4 is left out (--minimize builds, "
        "--budget)");
  REQUIRE(decision.skipped.size() == 1);
  CHECK(plan::render_skip(decision.skipped[0].code) == "withheld");
  const auto none = fleet.solve(0, {{"demo", {"v4", "v3"}}});
  REQUIRE_FALSE(none.has_value());
  CHECK(none.error().message.contains("--minimize builds"));
}

TEST_CASE("the members of a family have one ladder") {
  World world;
  world.use_families = true;
  REQUIRE(world.families.add_file(testing::small_family_with("builds = [", R"(builds = [
  { label = "cu126", platform = "linux_x86_64", code = ["9.0"], source = ["CI"], confidence = "high" },)"),
                                  "acme.toml"));
  const auto publish = [&](const std::string& name, const std::string& version,
                           const std::vector<std::string>& needs, std::uint64_t bytes) {
    testing::WheelRecipe recipe{.name = name, .version = version, .requires_dist = needs};
    recipe.tags = testing::tags;
    world.index.add_wheel_at("https://acme.test/whl", recipe, bytes);
  };
  publish("acme", "2.1+cu130", {}, 900);
  publish("acme", "2.1+cu126", {}, 500);
  publish("acme", "2.1+cpu", {}, 100);
  publish("acme_vision", "0.4+cu130", {"acme==2.1"}, 50);
  publish("acme_vision", "0.4+cpu", {"acme==2.1"}, 10);
  const FactValues h100 = linux_machine({{"driver", "13.2"}, {"sm", "90"}});
  Fleet fleet(world, {"acme", "acme-vision"}, {h100});
  CHECK(Fleet::label_of(fleet.solve(0), "acme") == "cu130");
  CHECK(fleet.affordable("acme", 950) == "cu130");
  // cu126 is small enough, but there is no vision for it.
  CHECK(fleet.affordable("acme", 949) == "cpu (lesser)");
  CHECK(fleet.affordable("acme-vision", 949) == "cpu (lesser)");
  // Alone there is no such reason.
  Fleet alone(world, {"acme"}, {h100});
  CHECK(alone.affordable("acme", 899) == "cu126");
  CHECK(alone.affordable("acme", 499) == "cpu (lesser)");
  Fleet several(world, {"acme"}, {h100, linux_machine()});
  CHECK(several.shared("acme") == Labels{"cu130", "cpu"});
}

TEST_CASE("the condition of a class is the weakest one also where builds are withheld") {
  testing::ClassWorld world;
  publish_builds(world, "demo", "1.0",
                 {{"cu130",
                   {"nvidia :: cuda_version_lower_bound :: 13.0", "nvidia :: sm_arch :: 90_real",
                    "nvidia :: sm_arch :: 120_real"}},
                  {"cu126",
                   {"nvidia :: cuda_version_lower_bound :: 12.6", "nvidia :: sm_arch :: 60_real",
                    "nvidia :: sm_arch :: 90_real"}},
                  {"null", {}}});
  testing::Grid grid = platforms_and({{"driver", {"", "12.5", "12.6", "12.9", "13.0", "13.2"}},
                                      {"sm", {"", "60", "75", "90", "120", "90+60", "120+90"}}});
  const FactValues own = linux_machine({{"driver", "13.0"}, {"sm", "90"}});
  const std::string best = weakest(world, {"demo"}, own, grid);
  world.options.withheld = {{"demo", {"cu130"}}};
  const std::string shared = weakest(world, {"demo"}, own, grid);
  CHECK(best ==
        "arch = x86_64 and glibc >= 2.17 and driver >= 580.65.06 and sm in {90, 120, 121, mixed}");
  CHECK(
      shared ==
      "arch = x86_64 and glibc >= 2.17 and driver >= 560.28.03 and sm in {60, 61, 62, 90, mixed}");
}

/// What the best build of a machine is for: GPUs, the processor, or nothing.
char purpose(const std::string& label) { return label.empty() ? '?' : label[0]; }

TEST_CASE("no choice for a random fleet has fewer builds, and none loses less within a budget") {
  std::mt19937 random(11);  // NOLINT(cert-msc32-c,cert-msc51-cpp): the same every time
  const auto any = [&](std::size_t below) { return random() % below; };
  const Labels levels = {"v1", "v2", "v3", "v4"};
  const Labels kinds = {"60", "75", "90", "120"};
  std::size_t fewer = 0;
  std::size_t limited = 0;
  for (unsigned round = 0; round < axle::tests::rounds(60); ++round) {
    CAPTURE(round);
    World world;
    std::map<std::string, std::vector<std::string>> builds = {{"null", {}}};
    std::map<std::string, std::uint64_t> bytes = {{"null", 1 + any(1000)}};
    for (std::size_t i = 0, count = 1 + any(4); i < count; ++i) {
      const std::string label = "g" + std::to_string(i);
      for (const std::string& kind : kinds) {
        if (any(2) == 0) builds[label].push_back("nvidia :: sm_arch :: " + kind + "_real");
      }
      if (builds[label].empty()) builds.erase(label);
      bytes[label] = 1 + any(1000);
    }
    for (const std::string& level : levels) {
      if (any(2) == 0) continue;
      builds["c" + level] = {"x86_64 :: level :: " + level};
      bytes["c" + level] = 1 + any(1000);
    }
    if (builds.size() == 1) continue;
    publish_builds(world, "demo", "1.0", builds, "cp311-cp311-manylinux_2_17_x86_64", {}, bytes);
    std::vector<FactValues> machines;
    for (std::size_t i = 0, count = 2 + any(3); i < count; ++i) {
      FactValues facts = linux_machine({{"x86_64", levels[any(levels.size())]}});
      if (any(2) == 0) facts.insert({{"driver", "13.2"}, {"sm", kinds[any(kinds.size())]}});
      machines.push_back(std::move(facts));
    }
    Fleet fleet(world, {"demo"}, machines);
    Labels best;
    for (const plan::Resolution& answer : fleet.best())
      best.push_back(answer.packages.at(0).variant.value_or(""));
    const Labels shared = fleet.shared("demo");
    for (std::size_t machine = 0; machine < machines.size(); ++machine)
      CHECK(purpose(shared[machine]) == purpose(best[machine]));
    // Every set of builds that is taken away.
    Labels names;
    for (const auto& [label, properties] : builds) names.push_back(label);
    std::size_t least = machines.size() + 1;
    std::optional<std::uint64_t> dearest;  // of what is affordable for the first machine
    const std::uint64_t budget = 1 + any(1000);
    for (unsigned taken = 0; taken < (1U << names.size()); ++taken) {
      WithheldBuilds withheld;
      for (std::size_t i = 0; i < names.size(); ++i) {
        if ((taken >> i & 1U) != 0) withheld["demo"].insert(names[i]);
      }
      std::set<std::string> used;
      bool good = true;
      for (std::size_t machine = 0; good && machine < machines.size(); ++machine) {
        const std::string label = Fleet::label_of(fleet.solve(machine, withheld), "demo");
        if (machine == 0 && bytes.contains(label) && bytes[label] <= budget)
          dearest = std::min(dearest.value_or(bytes[label]), bytes[label]);
        good = purpose(label) == purpose(best[machine]);
        used.insert(label);
      }
      if (good) least = std::min(least, used.size());
    }
    const std::set<std::string> used(shared.begin(), shared.end());
    CHECK(used.size() == least);
    fewer += used.size() < std::set<std::string>(best.begin(), best.end()).size() ? 1 : 0;
    // Of the ladder of one package the highest rung that is small enough is known without a search.
    const auto first = fleet.solve(0);
    REQUIRE(first.has_value());
    std::string expected;
    for (const bool alike : {true, false}) {
      for (const plan::Fit& fit : first->packages.at(0).decision.ranked) {
        if (!expected.empty() || bytes[fit.label] > budget) continue;
        if (alike != (purpose(fit.label) == purpose(best[0]))) continue;
        expected = fit.label + (alike ? "" : " (lesser)");
      }
    }
    CHECK(expected.empty() == !dearest.has_value());
    const std::string affordable = fleet.affordable("demo", budget);
    if (expected.empty()) {
      CHECK(affordable.contains("the smallest choice"));
    } else {
      CHECK(affordable == expected);
      limited += expected != best[0] ? 1 : 0;
    }
  }
  CHECK(fewer >= axle::tests::rounds(6));
  CHECK(limited >= axle::tests::rounds(6));
}

}  // namespace
}  // namespace axle::resolver
