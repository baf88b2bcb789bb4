// Classes of machines: the weakest predicate of an answer, against every machine of a grid.

#include <algorithm>
#include <random>
#include <string>
#include <vector>

#include <doctest/doctest.h>

#include "machines/selection.h"
#include "tests/resolver/classes/class_checks.h"
#include "tests/support/rounds.h"

namespace axle::resolver {
namespace {

using testing::ClassWorld;
using testing::Grid;
using testing::publish_builds;
using testing::WheelRecipe;

TEST_CASE("an answer without wheels for a platform holds on every machine") {
  ClassWorld world;
  world.index.add_wheel({.name = "demo", .version = "1.0", .requires_dist = {"part>=1"}});
  world.index.add_wheel({.name = "part", .version = "1.5"});
  ClassSolver solver = world.solver({"demo"});
  CHECK(weakest(world, solver, linux_machine(), platforms) == "any machine");
  CHECK(solver.solves() <= 3);
  const auto elsewhere = solver.solve(machine_with({{"system", "freebsd"}, {"arch", "x86_64"}}));
  REQUIRE_FALSE(elsewhere.has_value());
  CHECK(elsewhere.error().message == "there is no interpreter for such a machine");
}

TEST_CASE("a wheel's platform tag says which C library and architecture a class needs") {
  ClassWorld world;
  world.index.add_wheel(
      {.name = "demo", .version = "1.0", .tags = "cp311-cp311-manylinux_2_17_x86_64"});
  world.index.add_wheel(
      {.name = "demo", .version = "1.0", .tags = "cp311-cp311-manylinux_2_17_aarch64"});
  world.index.add_wheel(
      {.name = "demo", .version = "1.0", .tags = "cp311-cp311-musllinux_1_2_x86_64"});
  world.index.add_wheel(
      {.name = "demo", .version = "1.1", .tags = "cp311-cp311-manylinux_2_28_x86_64"});
  CHECK(weakest(world, {"demo"}, linux_machine(), platforms) == "arch = x86_64 and glibc >= 2.28");
  FactValues older = linux_machine();
  older["libc"] = "glibc 2.27";
  CHECK(weakest(world, {"demo"}, older, platforms) ==
        "arch = x86_64 and glibc >= 2.17 and glibc < 2.28");
  FactValues alpine = linux_machine();
  alpine["libc"] = "musl 1.2";
  CHECK(weakest(world, {"demo"}, alpine, platforms) == "arch = x86_64 and musl >= 1.2");
}

TEST_CASE("markers that name a machine count where they change something") {
  ClassWorld world;
  world.index.add_wheel({.name = "demo",
                         .version = "1.0",
                         .requires_dist = {"part; platform_machine == 'aarch64'",
                                           "demo-part; sys_platform == 'win32'"}});
  world.index.add_wheel({.name = "part", .version = "1.5"});
  CHECK(weakest(world, {"demo"}, linux_machine(), platforms) ==
        "system in {darwin, linux} and arch in {ppc64le, riscv64, s390x, x86_64}");
  FactValues arm = linux_machine();
  arm["arch"] = "aarch64";
  arm["arm_platform"] = "sbsa";
  // A Mac calls it arm64, Windows ARM64.
  CHECK(weakest(world, {"demo"}, arm, platforms) == "system = linux and arch = aarch64");
}

TEST_CASE("a kernel release that a marker asks for is a fact of its own") {
  ClassWorld world;
  world.index.add_wheel(
      {.name = "demo", .version = "1.0", .requires_dist = {"part; platform_release == '6.1.0'"}});
  world.index.add_wheel({.name = "part", .version = "1.5"});
  ClassSolver solver = world.solver({"demo"});
  const auto answer = solver.solve(machine_with(linux_machine({{"kernel", "6.1.0"}})));
  REQUIRE(answer.has_value());
  CHECK(answer->resolution.packages.size() == 2);
  CHECK(render_predicate(answer->holds) == "kernel = 6.1.0");
}

const Grid cpus = platforms_and({{"x86_64", {"", "v1", "v2", "v3", "v4"}},
                                 {"cpu avx512_vnni", {"", "has"}},
                                 {"cpu avx2", {"", "has"}}});

TEST_CASE("levels and single capabilities of a CPU") {
  ClassWorld world;
  publish_builds(world, "demo", "1.0",
                 {{"v3", {"x86_64 :: level :: v3"}},
                  {"v4", {"x86_64 :: level :: v4"}},
                  {"vnni", {"x86_64 :: level :: v4", "x86_64 :: avx512_vnni :: on"}},
                  {"null", {}}});
  const auto cpu = [](const std::string& level, bool vnni) {
    FactValues facts = linux_machine();
    if (!level.empty()) facts["x86_64"] = level;
    if (vnni) facts["cpu avx512_vnni"] = "has";
    return facts_of(machine_with(facts), {});
  };
  CHECK(weakest(world, {"demo"}, cpu("v4", true), cpus) ==
        "glibc >= 2.17 and x86_64 >= v4 and cpu has avx512_vnni");
  CHECK(weakest(world, {"demo"}, cpu("v4", false), cpus) ==
        "glibc >= 2.17 and x86_64 >= v4 and cpu lacks avx512_vnni");
  CHECK(weakest(world, {"demo"}, cpu("v3", false), cpus) ==
        "glibc >= 2.17 and x86_64 >= v3 and x86_64 < v4");
  CHECK(weakest(world, {"demo"}, cpu("v1", true), cpus) ==
        "arch = x86_64 and glibc >= 2.17 and x86_64 < v3");
}

TEST_CASE("a capability that a level consists of") {
  ClassWorld world;
  publish_builds(
      world, "demo", "1.0",
      {{"v3", {"x86_64 :: level :: v3"}}, {"avx2", {"x86_64 :: avx2 :: on"}}, {"null", {}}});
  FactValues facts = facts_of(machine_with(linux_machine({{"x86_64", "v3"}})), {});
  CHECK(weakest(world, {"demo"}, facts, cpus) == "glibc >= 2.17 and x86_64 >= v3");
  facts = facts_of(machine_with(linux_machine({{"x86_64", "v2"}, {"cpu avx2", "has"}})), {});
  CHECK(weakest(world, {"demo"}, facts, cpus) == "glibc >= 2.17 and x86_64 < v3 and cpu has avx2");
}

const Grid gpus = platforms_and(
    {{"driver", {"", "11.8", "12.4", "12.5", "12.6", "12.8", "12.9", "13.0", "13.1", "13.2"}},
     {"sm",
      {"", "35", "60", "70", "75", "80", "86", "89", "90", "100", "120", "unknown", "109", "120+75",
       "90+80", "90+60"}}});

void publish_cuda(ClassWorld& world) {
  publish_builds(world, "demo", "2.0",
                 {{"cu130",
                   {"nvidia :: cuda_version_lower_bound :: 13.0", "nvidia :: sm_arch :: 75_real",
                    "nvidia :: sm_arch :: 90_real", "nvidia :: sm_arch :: 120_real"}},
                  {"cu126",
                   {"nvidia :: cuda_version_lower_bound :: 12.6", "nvidia :: sm_arch :: 60_real",
                    "nvidia :: sm_arch :: 90_real"}},
                  {"null", {}}});
}

TEST_CASE("drivers and GPUs of a provider's variants") {
  ClassWorld world;
  publish_cuda(world);
  const auto gpu = [](const std::string& driver, const std::string& sm) {
    return linux_machine({{"driver", driver}, {"sm", sm}});
  };
  CHECK(weakest(world, {"demo"}, gpu("13.0", "90"), gpus) ==
        "arch = x86_64 and glibc >= 2.17 and driver >= 580.65.06 and "
        "sm in {75, 90, 120, 121, mixed}");
  CHECK(weakest(world, {"demo"}, gpu("12.8", "90"), gpus) ==
        "arch = x86_64 and glibc >= 2.17 and driver >= 560.28.03 and driver < 580.65.06 and "
        "sm in {60, 61, 62, 90, mixed}");
  CHECK(weakest(world, {"demo"}, gpu("13.0", "60"), gpus) ==
        "arch = x86_64 and glibc >= 2.17 and driver >= 560.28.03 and sm in {60, 61, 62, mixed}");
}

TEST_CASE("a class without an accelerator has conditions where an accelerator would change it") {
  ClassWorld world;
  publish_cuda(world);
  const std::string text = weakest(world, {"demo"}, linux_machine(), gpus);
  CHECK(text.starts_with("arch = x86_64 and glibc >= 2.17 and sm in {none, 35"));
  CHECK_FALSE(text.contains("driver"));
}

TEST_CASE("unlike GPUs are a value of their own") {
  ClassWorld world;
  publish_cuda(world);
  const FactValues own = linux_machine({{"driver", "13.0"}, {"sm", "120+75"}});
  const std::string text = weakest(world, {"demo"}, own, gpus);
  CHECK(text.ends_with("sm in {75, 90, 120, 121, mixed}"));
}

TEST_CASE("builds of a family, whose drivers have floors and whose code is for some GPUs") {
  ClassWorld world;
  world.use_families = true;
  REQUIRE(world.families.add_file(testing::small_family, "acme.toml"));
  const auto publish = [&](const std::string& name, const std::string& version,
                           const std::vector<std::string>& labels,
                           const std::vector<std::string>& needs = {}) {
    for (const std::string& label : labels) {
      world.index.add_wheel_at("https://acme.test/whl",
                               {.name = name,
                                .version = version + "+" + label,
                                .requires_dist = needs,
                                .tags = "cp311-cp311-manylinux_2_28_x86_64"});
    }
  };
  publish("acme", "2.1", {"cpu", "cu130", "xpu"});
  publish("acme", "2.0", {"cpu", "cu130", "cu126", "rocm6.4"});
  publish("acme_vision", "0.4", {"cpu", "cu130"}, {"acme==2.1"});
  publish("acme_vision", "0.3", {"cpu", "cu126"}, {"acme==2.0"});
  const Grid grid = {{"system", {"linux", "darwin"}},
                     {"arch", {"x86_64", "aarch64"}},
                     {"libc", {"", "glibc 2.27", "glibc 2.28", "glibc 2.36"}},
                     {"driver", {"", "11.8", "12.0", "12.4", "12.9", "13.0", "13.1"}},
                     {"sm", {"", "50", "60", "61", "75", "80", "90", "100", "120", "unknown"}},
                     {"gfx", {"", "gfx942", "gfx1100"}},
                     {"device", {"", "20.1.4"}}};
  ClassSolver solver = world.solver({"acme", "acme-vision"});
  CHECK(weakest(world, solver, linux_machine({{"driver", "13.0"}, {"sm", "90"}}), grid)
            .contains("driver >= 580.65.06 and sm in {75, "));
  CHECK(weakest(world, solver, linux_machine({{"driver", "12.8"}, {"sm", "90"}}), grid)
            .contains("driver >= 525.60.13 and driver < 580.65.06 and sm in {60, 61, 90"));
  CHECK(solver.solves() <= 20);
  // Its newest release has nothing for this GPU, and nothing says that it should not be taken.
  const std::string amd =
      weakest(world, solver, linux_machine({{"gfx", "gfx942"}, {"rocm", "6.4"}}), grid);
  CHECK(amd.starts_with("arch = x86_64 and glibc >= 2.28 and sm in {none, 35,"));
  CHECK(weakest(world, solver, linux_machine(), grid) == amd);
  CHECK(solver.solves() <= 80);
}

TEST_CASE("a machine that was only tried is the first to link facts") {
  ClassWorld world;
  world.use_families = true;
  REQUIRE(world.families.add_file(testing::small_family, "acme.toml"));
  const std::string tags = "cp311-cp311-manylinux_2_28_x86_64";
  for (const std::string version : {"2.1+cpu", "2.1+cu130", "2.0+cpu", "2.0+cu126"})
    world.index.add_wheel_at("https://acme.test/whl",
                             {.name = "acme", .version = version, .tags = tags});
  world.index.add_wheel({.name = "user", .version = "1.0", .requires_dist = {"acme"}});
  world.index.add_wheel({.name = "user", .version = "0.9", .requires_dist = {"acme<2.1"}});
  ClassSolver solver = world.solver({"acme", "user"});
  const auto answer = solver.solve(machine_with(linux_machine()));
  REQUIRE(answer.has_value());  // unlike GPUs are too many here for it not to be bounded
  const Grid grid =
      platforms_and({{"driver", {"", "12.9", "13.0"}}, {"sm", {"", "50", "90", "unknown"}}});
  world.check_weakest(answer->holds, linux_machine(), grid);
  CHECK(render_predicate(answer->holds)
            .starts_with("arch = x86_64 and glibc >= 2.28 and driver < 525.60.13 and sm in {none"));
}

TEST_CASE("an abi dependency makes a class depend on what the other package depends on") {
  ClassWorld world;
  publish_cuda(world);
  world.index.add_wheel({.name = "user", .version = "3.0", .requires_dist = {"demo>=2"}});
  publish_builds(world, "kernels", "1.0", {{"vnni", {"x86_64 :: avx512_vnni :: on"}}, {"null", {}}},
                 "cp311-cp311-manylinux_2_17_x86_64", {{"vnni", {"demo", "extra-part"}}});
  world.index.add_wheel({.name = "extra_part", .version = "1.0"});
  Grid grid = gpus;
  grid["sm"] = {"", "60", "90"};
  grid["driver"] = {"", "12.5", "12.6", "13.0"};
  grid["cpu avx512_vnni"] = {"", "has"};
  CHECK(weakest(world, {"user", "kernels"},
                linux_machine({{"driver", "12.6"}, {"sm", "60"}, {"cpu avx512_vnni", "has"}}), grid)
            .contains("cpu has avx512_vnni and driver >= 560.28.03 and sm in {60, 61, 62"));
}

TEST_CASE("random builds: machines inside get the answer, those one step outside do not") {
  const std::vector<std::string> properties = {"nvidia :: cuda_version_lower_bound :: 12.6",
                                               "nvidia :: cuda_version_lower_bound :: 13.0",
                                               "nvidia :: cuda_version_upper_bound :: 13.0",
                                               "nvidia :: sm_arch :: 80_real",
                                               "nvidia :: sm_arch :: 90_real",
                                               "nvidia :: sm_arch :: 70_virtual",
                                               "x86_64 :: level :: v3",
                                               "x86_64 :: level :: v4",
                                               "x86_64 :: avx512_vnni :: on",
                                               "axle :: gpu :: nvidia"};
  Grid grid = {{"system", {"linux", "darwin"}},
               {"arch", {"x86_64", "aarch64"}},
               {"libc", {"", "glibc 2.16", "glibc 2.17", "glibc 2.36"}},
               {"driver", {"", "12.5", "12.6", "12.9", "13.0"}},
               {"sm", {"", "70", "80", "86", "90"}},
               {"x86_64", {"", "v2", "v3", "v4"}},
               {"cpu avx512_vnni", {"", "has"}}};
  for (unsigned seed = 0; seed < axle::tests::rounds(12); ++seed) {
    CAPTURE(seed);
    std::mt19937 random(seed);
    const auto any = [&](std::size_t below) { return static_cast<std::size_t>(random() % below); };
    ClassWorld world;
    for (const char* name : {"one", "two"}) {
      for (const char* version : {"1.0", "2.0"}) {
        std::map<std::string, std::vector<std::string>> labels;
        if (any(3) != 0 || std::string_view(version) == "1.0") labels["null"] = {};
        for (std::size_t i = 0; i < 3; ++i) {
          std::vector<std::string>& of_label = labels["l" + std::to_string(i)];
          for (std::size_t j = 0; j <= any(3); ++j)
            of_label.push_back(properties[any(properties.size())]);
        }
        std::map<std::string, std::vector<std::string>> needs;
        if (std::string_view(name) == "one" && any(2) == 0) needs["l1"] = {"two==1.0"};
        publish_builds(world, name, version, labels, "cp311-cp311-manylinux_2_17_x86_64", needs);
      }
    }
    ClassSolver solver = world.solver({"one", "two"});
    const std::vector<FactValues> machines = testing::machines_of(grid);
    for (unsigned i = 0; i < 3; ++i) {
      const FactValues& facts = machines[any(machines.size())];
      if (world.answer(facts).empty()) continue;
      weakest(world, solver, facts, grid);
    }
  }
}

TEST_CASE("classes that differ in one fact share what was solved for the others") {
  ClassWorld world;
  publish_cuda(world);
  for (unsigned i = 0; i < 40; ++i) {
    world.index.add_wheel({.name = "part" + std::to_string(i), .version = "1.0"});
    world.index.add_wheel({.name = "part" + std::to_string(i), .version = "2.0"});
  }
  std::vector<std::string> needs = {"demo"};
  for (unsigned i = 0; i < 40; ++i) needs.push_back("part" + std::to_string(i));
  world.counted = true;
  ClassSolver solver = world.solver(needs);
  const auto solve = [&](const std::string& driver) {
    const auto answer =
        solver.solve(machine_with(linux_machine({{"driver", driver}, {"sm", "90"}})));
    REQUIRE(answer.has_value());
    return render_predicate(answer->holds);
  };
  const std::string first = solve("13.0");
  const std::size_t solves = solver.solves();
  const std::size_t fetched = world.index.fetched.size();
  std::vector<std::string> all = {first};
  for (const char* driver :
       {"13.1", "13.2", "12.9", "12.8", "12.7", "12.6", "12.5", "12.4", "12.3", "12.2", "12.1"}) {
    all.push_back(solve(driver));
  }
  CHECK(solver.solves() <= 2 * solves);
  CHECK(world.index.fetched.size() <= fetched + 2);
  std::ranges::sort(all);
  all.erase(std::ranges::unique(all).begin(), all.end());
  CHECK(all.size() == 3);
  std::vector<std::string> pages = world.index.asked;
  std::ranges::sort(pages);
  CHECK(std::ranges::adjacent_find(pages) == pages.end());
  std::vector<std::string> files = world.index.fetched;
  std::ranges::sort(files);
  CHECK(std::ranges::adjacent_find(files) == files.end());
}

TEST_CASE("every shipped machine is a class whose predicate it meets") {
  ClassWorld world;
  publish_cuda(world);
  publish_builds(world, "fast", "1.0",
                 {{"v3", {"x86_64 :: level :: v3"}},
                  {"v4", {"x86_64 :: level :: v4"}},
                  {"gfx", {"amd :: gfx_arch :: gfx942"}},
                  {"null", {}}},
                 "cp311-cp311-linux_x86_64.linux_aarch64");
  publish_builds(world, "demo", "1.0", {{"null", {}}}, "py3-none-any");
  const auto shipped = machines::shipped_machines();
  REQUIRE(shipped.has_value());
  ClassSolver solver = world.solver({"demo", "fast"});
  std::size_t met = 0;
  for (machines::NamedMachine named : *shipped) {
    CAPTURE(named.name);
    CollectedReport unheard;
    machines::complete_machine(named.machine, named.name, unheard);
    const FactValues own = facts_of(named.machine, {});
    if (world.answer(own).empty()) continue;
    const auto answer = solver.solve(named.machine);
    REQUIRE_MESSAGE(answer.has_value(), answer.error().message);
    CHECK(misfits(answer->holds, named.machine, {}).empty());
    // Whoever meets it gets its answer.
    for (const machines::NamedMachine& other : *shipped) {
      machines::NamedMachine whole = other;
      machines::complete_machine(whole.machine, whole.name, unheard);
      if (!misfits(answer->holds, whole.machine, {}).empty()) continue;
      CAPTURE(other.name);
      CHECK(world.answer(facts_of(whole.machine, {})) == answer_of(answer->resolution));
      ++met;
    }
  }
  CHECK(met > 200);
  CHECK(solver.solves() <= 120);
}

/// A plugin of namespace acme that tells of one level.
class AcmePlugin final : public PluginHost {
 public:
  std::vector<PluginLists> ask(std::span<const PluginRequest> requests, Report&) override {
    return std::vector<PluginLists>(
        requests.size(), {plan::ListOrigin::plugin, "acme", {{"level", false, {"3", "2"}}}});
  }
};

TEST_CASE("what only a plugin can tell of is a property that a machine has or lacks") {
  ClassWorld world;
  wheel::VariantMetadata metadata;
  metadata.schema_version = "0.2.0";
  metadata.namespaces = {"acme"};
  metadata.providers["acme"].requires_ = {"acme-provider"};
  metadata.variants = {
      {"best", {{"acme", "level", "4"}}}, {"good", {{"acme", "level", "3"}}}, {"null", {}}};
  world.publish_variants("demo", "1.0", metadata);
  AcmePlugin plugin;
  world.options.providers.plugins = &plugin;
  ClassSolver solver = world.solver({"demo"});
  const auto answer = solver.solve(machine_with(linux_machine()));
  REQUIRE(answer.has_value());
  CHECK(answer->resolution.packages.front().variant == "good");
  CHECK(render_predicate(answer->holds) ==
        "property has \"acme :: level :: 3\" and "
        "property lacks \"acme :: level :: 4\"");
}

TEST_CASE("what cannot be solved for a class is said, and a bound makes a predicate stronger") {
  ClassWorld world;
  publish_cuda(world);
  ClassSolver solver = world.solver({"demo==3.0"});
  const auto none = solver.solve(machine_with(linux_machine()));
  REQUIRE_FALSE(none.has_value());
  CHECK(none.error().message.contains("demo"));

  world.options.providers.gpus = {providers::GpuRule::named, {"0"}};
  ClassSolver named = world.solver({"demo"});
  CHECK(named.solve(machine_with(linux_machine())).error().message.contains("device=0"));
  world.options.providers.gpus = {};

  ClassSolver bounded = world.solver({"demo"}, 3);
  const FactValues own = linux_machine({{"driver", "13.0"}, {"sm", "90"}});
  const auto answer = bounded.solve(machine_with(own));
  REQUIRE(answer.has_value());
  CHECK(answer->bounded);
  CHECK(bounded.solves() <= 4);
  for (const FactValues& facts : testing::machines_of(gpus)) {
    if (misfits(answer->holds, facts).empty())
      CHECK(world.answer(facts) == answer_of(answer->resolution));
  }
  FactValues windows = own;
  windows["system"] = "windows";
  CHECK(bounded.solve(machine_with(windows)).error().kind == ErrorKind::unsupported);
}

TEST_CASE("a locked version stays, unless it does not fit or is not allowed") {
  ClassWorld world;
  for (const char* version : {"1.0", "1.5", "2.0"}) {
    world.index.add_wheel({.name = "demo", .version = version, .requires_dist = {"part"}});
    world.index.add_wheel({.name = "part", .version = version});
  }
  using Names = std::vector<std::string>;
  CHECK(world.resolve({"demo"}) == Names{"demo 2.0", "part 2.0"});
  world.options.preferred["demo"] = {testing::version("1.5")};
  CHECK(world.resolve({"demo"}) == Names{"demo 1.5", "part 2.0"});
  world.options.preferred["part"] = {testing::version("7.0"), testing::version("1.0")};
  CHECK(world.resolve({"demo"}) == Names{"demo 1.5", "part 1.0"});
  CHECK(world.resolve({"demo>1.5"}) == Names{"demo 2.0", "part 1.0"});
  CHECK(world.resolve({"demo", "part>1"}) == Names{"demo 1.5", "part 2.0"});
  // What it needs is not there any more.
  world.index.add_wheel({.name = "demo", .version = "1.2", .requires_dist = {"gone"}});
  world.options.preferred["demo"] = {testing::version("1.2")};
  world.index.add_empty_page("gone");
  CHECK(world.resolve({"demo"}) == Names{"demo 2.0", "part 1.0"});
}

TEST_CASE("a locked release of a family stays where it has a build for the machine") {
  testing::NvidiaWorld world;
  using Names = std::vector<std::string>;
  CHECK(world.resolve({"acme"}) == Names{"acme 2.1+cu130[cu130]"});
  world.options.preferred["acme"] = {testing::version("2.0")};
  CHECK(world.resolve({"acme"}) == Names{"acme 2.0+cu126[cu126]"});
  CHECK(world.resolve({"acme", "acme-vision"}) ==
        Names{"acme 2.0+cu126[cu126]", "acme-vision 0.3+cu126[cu126]"});
  testing::NvidiaWorld other("7.5");
  CHECK(other.resolve({"acme"}) == Names{"acme 2.1+cu130[cu130]"});
  other.options.preferred["acme"] = {testing::version("2.0")};
  CHECK(other.resolve({"acme"}) == Names{"acme 2.1+cu130[cu130]"});
}

}  // namespace
}  // namespace axle::resolver
