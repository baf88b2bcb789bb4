// Distributions that install the same modules: one of a group.

#include <doctest/doctest.h>

#include "resolver/solver/solver.h"
#include "tests/resolver/family_world.h"

using axle::ErrorKind;
using axle::testing::NvidiaWorld;
using axle::testing::World;
using Names = std::vector<std::string>;

namespace {

template <class Base>
struct Runtimes : Base {
  Runtimes() {
    for (const char* name : {"onnxruntime", "onnxruntime_gpu"}) {
      this->index.add_wheel({.name = name, .version = "1.20"});
      this->index.add_wheel({.name = name, .version = "1.23"});
    }
    this->index.add_wheel({"app", "1.0", {"onnxruntime>=1.17"}});
    this->index.add_wheel({"fast", "1.0", {"onnxruntime-gpu"}});
    this->index.add_wheel({"old", "1.0", {"onnxruntime<1.22"}});
  }
};

}  // namespace

TEST_CASE("what is named stands for the others of its group, in whatever order") {
  for (const Names& asked : {Names{"app", "onnxruntime-gpu"}, Names{"onnxruntime-gpu", "app"}}) {
    Runtimes<World> world;
    CHECK(world.resolve(asked) == Names{"app 1.0", "onnxruntime-gpu 1.23"});
    CHECK(world.package("onnxruntime-gpu").stands_for == Names{"onnxruntime"});
    CHECK(world.package("onnxruntime-gpu").required_by == Names{"app 1.0"});
    CHECK(
        world.remarked("onnxruntime-gpu 1.23 stands for onnxruntime>=1.17, which app 1.0 "
                       "requires: both install onnxruntime"));
  }
}

TEST_CASE("the versions that are required hold for what stands in") {
  Runtimes<World> world;
  CHECK(world.resolve({"old", "onnxruntime-gpu"}) == Names{"old 1.0", "onnxruntime-gpu 1.20"});
  CHECK(world.error({"old", "onnxruntime-gpu>=1.23"}).kind == ErrorKind::conflict);
}

TEST_CASE("two of a group are refused with the modules, who wants them and what to do") {
  Runtimes<World> world;
  const auto wanted = world.error({"app", "fast"});
  CHECK(wanted.kind == ErrorKind::conflict);
  CHECK(wanted.message.contains("both install onnxruntime: only one of them"));
  CHECK(wanted.message.contains("required by app 1.0"));
  CHECK(wanted.message.contains("required by fast 1.0"));
  CHECK(wanted.hint.contains("name the one to use in the same command"));
  const auto named = world.error({"onnxruntime", "onnxruntime-gpu"});
  CHECK(named.message.contains("both install onnxruntime"));
  CHECK(named.hint == "leave one of them out, or have both with --overwrite");
  CHECK(world.resolve({"app", "fast", "onnxruntime-gpu"}) ==
        Names{"app 1.0", "fast 1.0", "onnxruntime-gpu 1.23"});
}

TEST_CASE("what is installed stands for the others and is kept") {
  Runtimes<World> world;
  world.install("onnxruntime-gpu", "1.20");
  CHECK(world.resolve({"app"}) == Names{"app 1.0", "=onnxruntime-gpu 1.20"});
  CHECK(world.last.replaced.empty());
}

TEST_CASE("what is installed is not replaced under another name unasked") {
  Runtimes<World> world;
  world.install("onnxruntime-gpu", "1.20");
  const auto refused = world.error({"onnxruntime"});
  CHECK(refused.kind == ErrorKind::conflict);
  CHECK(refused.message ==
        "onnxruntime-gpu 1.20 is installed, onnxruntime 1.23 would replace it: both install "
        "onnxruntime");
  CHECK(refused.hint.contains("--allow-backend-change"));
  REQUIRE(refused.changes.size() == 1);
  CHECK(refused.changes[0].name == "onnxruntime-gpu");
  CHECK(refused.changes[0].new_name == "onnxruntime");
  world.options.allow_backend_change = true;
  CHECK(world.resolve({"onnxruntime", "fast"}) == Names{"fast 1.0", "onnxruntime 1.23"});
  CHECK(world.last.replaced == Names{"onnxruntime-gpu"});
}

TEST_CASE("an environment that has two of a group already stands in nobody's way") {
  Runtimes<World> world;
  world.install("onnxruntime", "1.20");
  world.install("onnxruntime-gpu", "1.20");
  world.index.add_wheel({"lib", "1.0"});
  CHECK(world.resolve({"lib"}) == Names{"lib 1.0"});
  CHECK(world.resolve({"app"}).size() == 2);
}

TEST_CASE("a URL and an override say which distribution it is") {
  Runtimes<World> world;
  const auto refused =
      world.error({"onnxruntime-gpu",
                   "onnxruntime @ https://index.test/files/onnxruntime-1.20-py3-none-any.whl"});
  CHECK(refused.message.contains("both install onnxruntime"));
}

TEST_CASE("a better one for the machine is named, and taken with --alternatives") {
  Runtimes<NvidiaWorld> world;
  CHECK(world.resolve({"app"}) == Names{"app 1.0", "onnxruntime 1.23"});
  CHECK(
      world.remarked("onnxruntime 1.23 is chosen; onnxruntime-gpu has the same modules for this "
                     "machine"));
  world.options.alternatives = true;
  CHECK(world.resolve({"app"}) == Names{"app 1.0", "onnxruntime-gpu 1.23"});
  CHECK(world.resolve({"onnxruntime<1.22"}) == Names{"onnxruntime-gpu 1.20"});
  CHECK(world.remarked("onnxruntime-gpu is taken for onnxruntime: it fits this machine"));
  // Whoever names one for a machine wants that one.
  CHECK(world.resolve({"onnxruntime-gpu==1.20"}) == Names{"onnxruntime-gpu 1.20"});
}

TEST_CASE("without a GPU that it is for nothing is said of another, and nothing changes") {
  Runtimes<World> world;
  world.options.alternatives = true;
  CHECK(world.resolve({"app"}) == Names{"app 1.0", "onnxruntime 1.23"});
  CHECK_FALSE(world.remarked("same modules"));
}

TEST_CASE("an extra of one project is a member too") {
  NvidiaWorld world;
  world.index.add_wheel({"jax", "0.8", {"jax-cuda13-plugin; extra == 'cuda13'"}});
  world.index.add_wheel({"jax_cuda13_plugin", "0.8"});
  world.index.add_wheel({"flax", "1.0", {"jax>=0.7"}});
  CHECK(world.resolve({"flax"}) == Names{"flax 1.0", "jax 0.8"});
  CHECK(world.remarked("jax 0.8 is chosen; jax[cuda13] has the same modules for this machine"));
  world.options.alternatives = true;
  CHECK(world.resolve({"flax"}) == Names{"flax 1.0", "jax 0.8", "jax-cuda13-plugin 0.8"});
  CHECK(world.resolve({"jax"}) == Names{"jax 0.8", "jax-cuda13-plugin 0.8"});
}
