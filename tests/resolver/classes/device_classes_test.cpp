// Classes of projects whose device code may be in packages of their own.

#include <doctest/doctest.h>

#include "tests/resolver/classes/class_checks.h"

namespace axle::resolver {
namespace {

using testing::ClassWorld;
using testing::Grid;

const Grid amd_gpus = {{"system", {"linux"}},
                       {"arch", {"x86_64"}},
                       {"libc", {"glibc 2.36"}},
                       {"rocm", {"7.0"}},
                       {"gfx", {"", "gfx906", "gfx90a", "gfx942", "gfx1100", "gfx1201"}}};

TEST_CASE("of a wheel without device extras it does not matter which GPU there is") {
  ClassWorld world;
  world.index.add_wheel({.name = "torch", .version = "2.9.0", .extras = {"opt-einsum"}});
  ClassSolver solver = world.solver({"torch"});
  const FactValues mi300 = linux_machine({{"rocm", "7.0"}, {"gfx", "gfx942"}});
  CHECK(weakest(world, solver, mi300, amd_gpus) == "any machine");
  // Each GPU that it is thought to depend on would be one solve more.
  CHECK(solver.solves() <= 2);
}

TEST_CASE("a class ends where a GPU has another extra") {
  ClassWorld world;
  world.index.add_wheel({.name = "torch",
                         .version = "2.9.0",
                         .requires_dist = {"code-gfx942; extra == 'device-gfx942'",
                                           "code-gfx11; extra == 'device-gfx11'"},
                         .extras = {"device-gfx942", "device-gfx11"}});
  world.index.add_wheel({.name = "code_gfx942", .version = "1.0"});
  world.index.add_wheel({.name = "code_gfx11", .version = "1.0"});
  const auto with = [](const std::string& gfx) {
    return linux_machine({{"rocm", "7.0"}, {"gfx", gfx}});
  };
  CHECK(weakest(world, {"torch"}, with("gfx942"), amd_gpus) == "gfx = gfx942");
  CHECK(weakest(world, {"torch"}, with("gfx1100"), amd_gpus).starts_with("gfx in {gfx1100, "));
  // Only the release that is chosen asks for a device.
  world.index.add_wheel({.name = "torch", .version = "2.10.0"});
  CHECK(weakest(world, {"torch"}, with("gfx942"), amd_gpus) == "any machine");
}

}  // namespace
}  // namespace axle::resolver
