// Decisions of a class that an earlier one of the same solver has come across.

#include <string>

#include <doctest/doctest.h>

#include "tests/resolver/classes/class_world.h"
#include "tests/resolver/family_world.h"

namespace axle::resolver {
namespace {

using testing::ClassWorld;

detect::Machine machine_of_gpu(const std::string& sm) {
  return machine_with({{"system", "linux"},
                       {"arch", "x86_64"},
                       {"libc", "glibc 2.36"},
                       {"driver", "13.0"},
                       {"sm", sm}});
}

TEST_CASE("a decision speaks of the class's machine, also where another one was tried before") {
  ClassWorld world;
  world.use_families = true;
  REQUIRE(world.families.add_file(testing::small_family, "acme.toml"));
  // The newest has no code for the older GPU.
  for (const char* version : {"2.1+cpu", "2.1+cu130", "2.0+cpu", "2.0+cu126"}) {
    world.index.add_wheel_at(
        "https://acme.test/whl",
        {.name = "acme", .version = version, .tags = "cp311-cp311-manylinux_2_28_x86_64"});
  }
  ClassSolver solver = world.solver({"acme"});
  REQUIRE(solver.solve(machine_of_gpu("90")));
  ClassSolver alone = world.solver({"acme"});
  const detect::Machine older = machine_of_gpu("61");
  const auto after = solver.solve(older);
  const auto first = alone.solve(older);
  REQUIRE(after.has_value());
  REQUIRE(first.has_value());
  CHECK(after->holds == first->holds);
  CHECK(first->resolution.packages.at(0).version == testing::version("2.0+cu126"));
  const auto because = [](const ClassAnswer& answer) {
    return answer.resolution.packages.at(0).decision.chosen_because;
  };
  CHECK(because(*first).contains("compute capability 6.1"));
  CHECK(because(*after) == because(*first));
}

}  // namespace
}  // namespace axle::resolver
