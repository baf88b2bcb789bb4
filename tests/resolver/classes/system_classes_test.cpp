// Classes of Windows and macOS.

#include <string>

#include <doctest/doctest.h>

#include "tests/resolver/classes/class_checks.h"

namespace axle::resolver {
namespace {

using testing::ClassWorld;
using testing::Grid;
using testing::publish_builds;

TEST_CASE("a wheel's platform tag says which system and which macOS a class needs") {
  ClassWorld world;
  for (const char* tags : {"cp311-cp311-macosx_11_0_arm64", "cp311-cp311-macosx_10_9_x86_64",
                           "cp311-cp311-win_amd64", "cp311-cp311-manylinux_2_17_x86_64"})
    world.index.add_wheel({.name = "demo", .version = "1.0", .tags = tags});
  for (const char* tags : {"cp311-cp311-macosx_14_0_arm64", "cp311-cp311-win_arm64"})
    world.index.add_wheel({.name = "demo", .version = "1.1", .tags = tags});
  ClassSolver solver = world.solver({"demo"});
  const auto holds = [&](const FactValues& own) { return weakest(world, solver, own, platforms); };
  CHECK(holds(mac("15.0")) == "arch = aarch64 and macos >= 14.0");
  CHECK(holds(mac("14.6")) == "arch = aarch64 and macos >= 14.0");
  CHECK(holds(mac("13.0")) == "arch = aarch64 and macos >= 11.0 and macos < 14.0");
  CHECK(holds(mac("10.15", {{"arch", "x86_64"}})) == "arch = x86_64 and macos >= 10.9");
  CHECK(holds(windows()) == "system = windows and arch = x86_64");
  CHECK(holds(windows({{"arch", "aarch64"}})) == "system = windows and arch = aarch64");
  CHECK(holds(linux_machine()) == "arch = x86_64 and glibc >= 2.17");
}

TEST_CASE("a universal wheel is for both architectures of a Mac, a pure one for all systems") {
  ClassWorld world;
  world.index.add_wheel(
      {.name = "demo", .version = "1.0", .tags = "cp311-cp311-macosx_12_0_universal2"});
  world.index.add_wheel({.name = "demo", .version = "0.9"});
  const auto holds = weakest(world, {"demo"}, mac("13.0"), platforms);
  CHECK(holds == "arch in {aarch64, x86_64} and macos >= 12.0");
}

TEST_CASE("GPUs and levels count on Windows as they do on Linux") {
  ClassWorld world;
  publish_builds(
      world, "fast", "1.0",
      {{"v3", {"x86_64 :: level :: v3"}},
       {"sm90", {"nvidia :: sm_arch :: 90_real", "nvidia :: cuda_version_lower_bound :: 12.8"}},
       {"null", {}}},
      "cp311-cp311-win_amd64");
  const Grid grid = platforms_and({{"x86_64", {"", "v2", "v3", "v4"}},
                                   {"driver", {"", "12.6", "12.8", "13.0"}},
                                   {"sm", {"", "80", "90", "120"}}});
  const auto train = windows({{"sm", "90"}, {"driver", "13.0"}, {"x86_64", "v3"}});
  const std::string holds = weakest(world, {"fast"}, train, grid);
  CHECK(holds.starts_with("system = windows and "));
  CHECK(holds.contains("driver >= 570.26"));
  CHECK(holds.contains("sm "));
  const std::string plain = weakest(world, {"fast"}, windows({{"x86_64", "v2"}}), grid);
  CHECK(plain.starts_with("system = windows and "));
}

TEST_CASE("markers of Windows and macOS decide about requirements") {
  ClassWorld world;
  world.index.add_wheel(
      {.name = "demo",
       .version = "1.0",
       .requires_dist = {"part; sys_platform == 'win32'", "piece; platform_machine == 'arm64'"}});
  world.index.add_wheel({.name = "part", .version = "1.5"});
  world.index.add_wheel({.name = "piece", .version = "2.5"});
  ClassSolver solver = world.solver({"demo"});
  CHECK(weakest(world, solver, windows(), platforms) == "system = windows");
  CHECK(weakest(world, solver, mac("13.0"), platforms) == "system = darwin and arch = aarch64");
  CHECK(weakest(world, solver, linux_machine(), platforms) ==
        "system in {darwin, linux} and arch in {ppc64le, riscv64, s390x, x86_64}");
}

}  // namespace
}  // namespace axle::resolver
