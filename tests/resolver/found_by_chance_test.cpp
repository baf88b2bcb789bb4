// The smallest worlds of defects that random worlds found.

#include <algorithm>
#include <string>
#include <vector>

#include <doctest/doctest.h>

#include "tests/resolver/family_world.h"
#include "tests/resolver/solver_world.h"

namespace axle::testing {
namespace {

using Strings = std::vector<std::string>;

TEST_CASE("where all final releases are yanked a dependency takes a pre-release") {
  World world;
  world.index.add_wheel({.name = "app", .version = "1.0"});
  world.index.add_wheel({.name = "app", .version = "2.0", .requires_dist = {"lib"}});
  world.index.add_wheel({.name = "lib", .version = "2.0rc1"});
  world.index.add_wheel({.name = "lib", .version = "2.0"}).yanked = true;
  CHECK(world.resolve({"app"}) == Strings{"app 2.0", "lib 2.0rc1"});
}

TEST_CASE("a final release without a wheel counts before pre-releases") {
  World world;
  world.index.add_wheel({.name = "app", .version = "1.0"});
  world.index.add_wheel({.name = "app", .version = "2.0", .requires_dist = {"lib>1.0"}});
  world.index.add_wheel({.name = "other", .version = "1.0", .requires_dist = {"lib>2.0"}});
  world.index.add_wheel({.name = "lib", .version = "1.0"});
  world.index.add_file("lib", "lib-2.0.tar.gz", "no build is made of it");
  world.index.add_wheel({.name = "lib", .version = "3.0b1"});
  CHECK(world.resolve({"app"}) == Strings{"app 1.0"});
  CHECK(world.resolve({"app", "other"}) == Strings{"app 2.0", "lib 3.0b1", "other 1.0"});
}

TEST_CASE("a yanked release that only a version asks for which was left again is not taken") {
  World world;
  world.index.add_wheel({.name = "app", .version = "1.0", .requires_dist = {"lib>1.0"}});
  world.index.add_wheel({.name = "app", .version = "2.0", .requires_dist = {"lib==1.5", "ghost"}});
  world.index.add_wheel({.name = "lib", .version = "1.0"});
  world.index.add_wheel({.name = "lib", .version = "1.5"}).yanked = true;
  const auto error = world.error({"app"});
  CHECK(std::ranges::any_of(error.conflict.statements, [](const plan::Statement& statement) {
    return statement.text.contains("lib 1.5 is yanked, which nobody asks for");
  }));
  // Whoever is chosen and asks for it makes it count, also if that is found out late.
  world.index.add_wheel({.name = "pins", .version = "1.0", .requires_dist = {"lib==1.5"}});
  world.index.add_wheel({.name = "pins", .version = "2.0", .requires_dist = {"ghost"}});
  for (const Strings& order : {Strings{"app", "pins"}, Strings{"pins", "app"}})
    CHECK(world.resolve(order) == Strings{"app 1.0", "lib 1.5", "pins 1.0"});
  world.index.add_wheel({.name = "app", .version = "0.5", .requires_dist = {"lib==1.5"}});
  CHECK(world.resolve({"app"}) == Strings{"app 0.5", "lib 1.5"});
}

TEST_CASE("what only a yanked release that is not taken would bring in does not ask for it") {
  World world;
  world.index.add_wheel({.name = "app", .version = "2.0"}).yanked = true;
  world.index.add_wheel({.name = "app", .version = "3.0", .requires_dist = {"lib"}});
  world.index.add_wheel({.name = "lib", .version = "1.0", .requires_dist = {"app==2.0"}});
  (void)world.error({"app"});
  world.index.add_wheel({.name = "app", .version = "1.0"});
  CHECK(world.resolve({"app"}) == Strings{"app 1.0"});
}

TEST_CASE("a release is not brought in to ask for a yanked one") {
  World world;
  world.index.add_wheel({.name = "app", .version = "1.0"}).yanked = true;
  world.index.add_wheel({.name = "app", .version = "2.0", .requires_dist = {"lib[x]"}});
  world.index.add_wheel({.name = "lib", .version = "2.0", .requires_dist = {"app==1.0"}});
  (void)world.error({"app"});
  // Where it is there anyway it asks.
  world.index.add_wheel({.name = "old", .version = "1.0", .requires_dist = {"lib"}});
  CHECK(world.resolve({"app", "old"}) == Strings{"app 1.0", "lib 2.0", "old 1.0"});
}

TEST_CASE("who asks for a yanked release may be found later") {
  World world;
  world.index.add_wheel({.name = "lib", .version = "2.0"}).yanked = true;
  world.index.add_wheel({.name = "app", .version = "4.0", .requires_dist = {"lib==2.0"}});
  CHECK(world.error({"lib"}).message.contains("2.0 (yanked)"));
  for (const Strings& order : {Strings{"lib<3", "app"}, Strings{"app", "lib<3"}})
    CHECK(world.resolve(order) == Strings{"app 4.0", "lib 2.0"});
}

TEST_CASE("of two pre-releases of last resort what is asked for first has none") {
  World world;
  world.index.add_wheel({.name = "app", .version = "1.0rc1"});
  world.index.add_wheel({.name = "app", .version = "2.0", .requires_dist = {"lib"}});
  world.index.add_wheel({.name = "lib", .version = "1.0", .requires_dist = {"app<=1.0rc1"}});
  world.index.add_wheel({.name = "lib", .version = "2.0.dev1"});
  CHECK(world.resolve({"app"}) == Strings{"app 2.0", "lib 2.0.dev1"});
  CHECK(world.remarked("lib 2.0.dev1 is a pre-release: no final release goes with"));
}

TEST_CASE("what brings in the target of a build is tried before a pre-release") {
  World world;
  wheel::VariantMetadata linked;
  linked.schema_version = "0.2.0";
  linked.namespaces = {"abi_dependency"};
  linked.providers["abi_dependency"].builtin = "abi_dependency";
  linked.variants["base4"] = {{"abi_dependency", "base", "4"}};
  linked.variants["core1"] = {{"abi_dependency", "core", "1"}};
  world.publish_variants("app", "1.0", linked);
  world.index.add_wheel({.name = "base", .version = "3.1", .requires_dist = {"lib"}});
  world.index.add_wheel({.name = "base", .version = "4.0.dev1"});
  world.index.add_wheel({.name = "lib", .version = "1.0", .requires_dist = {"core"}});
  world.index.add_wheel({.name = "lib", .version = "2.0"});
  world.index.add_wheel({.name = "core", .version = "1.0"});
  CHECK(world.resolve({"base", "app"}) ==
        Strings{"app 1.0[core1]", "base 3.1", "core 1.0", "lib 1.0"});
}

TEST_CASE("all that is installed may move before a pre-release is taken") {
  World world;
  world.index.add_wheel({.name = "app", .version = "3.0", .requires_dist = {"lib", "base"}});
  world.index.add_wheel({.name = "app", .version = "4.0.dev1"});
  world.index.add_wheel({.name = "tool", .version = "1.0"});
  world.index.add_wheel({.name = "base", .version = "1.1"});
  world.index.add_wheel({.name = "lib", .version = "4.0", .requires_dist = {"tool[x]"}});
  world.install("base", "4.0.dev1", {"lib==2.0rc1"});
  world.install("tool", "3.1", {"base>=3.0,!=3.0"});
  CHECK(world.resolve({"app>=2.0"}) == Strings{"app 3.0", "base 1.1", "lib 4.0", "tool 1.0"});
}

/// lib 1.0 does not go with the installed tool 2.0, but with tool 1.0.
struct InstalledInTheWay : World {
  InstalledInTheWay() {
    index.add_wheel({.name = "lib", .version = "1.0"});
    index.add_wheel({.name = "lib", .version = "2.0"});
    index.add_wheel({.name = "tool", .version = "1.0"});
    index.add_wheel({.name = "tool", .version = "2.0", .requires_dist = {"lib>=2"}});
    install("lib", "2.0");
    install("tool", "2.0", {"lib>=2"});
  }
};

TEST_CASE(
    "nothing older is looked for that would bring in what is installed, so that it may move") {
  InstalledInTheWay world;
  world.index.add_wheel({.name = "app", .version = "1.0", .requires_dist = {"lib<2"}});
  world.index.add_wheel({.name = "side", .version = "1.0", .requires_dist = {"tool"}});
  world.index.add_wheel({.name = "side", .version = "2.0"});
  CHECK(world.error({"app", "side"}).message ==
        "this would break installed packages: tool 2.0, which is installed, needs lib>=2; it would "
        "get lib 1.0");
  CHECK(world.resolve({"app", "side", "tool"}) ==
        Strings{"app 1.0", "lib 1.0", "side 2.0", "tool 1.0"});
  world.index.add_wheel({.name = "app", .version = "2.0b1"});
  CHECK(world.resolve({"app", "side"}) == Strings{"app 2.0b1", "side 2.0"});
  CHECK(world.remarked("app 2.0b1 is a pre-release"));
}

TEST_CASE("a pre-release is the last resort where no final release goes with the rest") {
  World world;
  world.index.add_wheel({.name = "app", .version = "1.0", .requires_dist = {"lib", "base<2"}});
  world.index.add_wheel({.name = "lib", .version = "1.0", .requires_dist = {"base>=2"}});
  world.index.add_wheel({.name = "lib", .version = "1.5b1", .requires_dist = {"base"}});
  world.index.add_wheel({.name = "lib", .version = "2.0b1", .requires_dist = {"base>=2"}});
  world.index.add_wheel({.name = "base", .version = "1.0"});
  world.index.add_wheel({.name = "base", .version = "2.0"});
  CHECK(world.resolve({"app"}) == Strings{"app 1.0", "base 1.0", "lib 1.5b1"});
  CHECK(world.remarked(
      "lib 1.5b1 is a pre-release: no final release goes with the other requirements"));
  // Where that does not help either, pre-releases are not mentioned.
  const auto error = world.error({"app", "base>=2"});
  CHECK(error.message.find("1.5b1") == std::string::npos);
}

TEST_CASE("a member has a GPU platform without the first one of its family too") {
  NvidiaWorld world;
  world.index.add_wheel({.name = "blas_cu12", .version = "1.0"});
  world.publish("acme-audio", "1.0", "cu130", {"blas-cu12"});
  world.publish("acme-audio", "0.9", "cu126", {"blas-cu12"});
  CHECK(world.resolve({"acme-audio<2"}) == Strings{"acme-audio 0.9+cu126[cu126]", "blas-cu12 1.0"});
  CHECK_MESSAGE(world.error({"acme-audio==1.0"}).message.contains("is for CUDA 13"), "");
}

TEST_CASE("a build for CPUs is no way out of a conflict on a machine with a GPU") {
  NvidiaWorld world;
  world.publish("acme-audio", "2.0.1", "cpu");
  world.publish("acme-audio", "2.0.1", "cu126", {"ghost"});
  for (const char* asked : {"acme-audio==2.0.1", "acme-audio[x]==2.0.1"})
    CHECK_MESSAGE(world.error({asked}).message.contains("ghost"), asked);
  CHECK(world.resolve({"acme-audio<=2.0.1"}) == Strings{"acme-audio 2.0+cu126[cu126]"});
  CHECK(world.resolve({"acme-audio==2.0.1+cpu"}) == Strings{"acme-audio 2.0.1+cpu[cpu]"});
  // What another package asks for may have none for the GPU.
  world.publish("acme-audio", "2.0.2", "cpu");
  world.index.add_wheel({.name = "app", .version = "1.0", .requires_dist = {"acme-audio==2.0.2"}});
  CHECK(world.resolve({"app"}) == Strings{"acme-audio 2.0.2+cpu[cpu]", "app 1.0"});
  CHECK(world.remarked("although there is a GPU"));
}

TEST_CASE("what a build was linked with asks for no build for CPUs") {
  NvidiaWorld world;
  world.publish("acme-audio", "2.0.2", "cpu");
  wheel::VariantMetadata linked;
  linked.schema_version = "0.2.0";
  linked.namespaces = {"abi_dependency"};
  linked.providers["abi_dependency"].builtin = "abi_dependency";
  linked.variants["audio"] = {{"abi_dependency", "acme_audio", "2.0.2"}};
  world.publish_variants("app", "1.0", linked);
  (void)world.error({"acme-audio", "app"});
  CHECK(world.resolve({"acme-audio==2.0.2", "app"}) ==
        Strings{"acme-audio 2.0.2+cpu[cpu]", "app 1.0[audio]"});
}

TEST_CASE("a first member for CPUs that was left again is no reason to take builds for CPUs") {
  NvidiaWorld world;
  world.publish("acme", "2.0.1", "cpu");
  world.publish("acme-vision", "0.3.1", "cu126", {"acme==2.0.1"});
  world.publish("acme-vision", "0.4.1", "cpu");
  (void)world.error({"acme-vision>=0.3.1,!=0.4"});
}

TEST_CASE("an older release that brings in no other backend is an answer") {
  NvidiaWorld world;
  world.publish("acme-audio", "1.0", "cpu");
  world.index.add_wheel({.name = "app", .version = "1.0"});
  world.index.add_wheel({.name = "app", .version = "2.0", .requires_dist = {"acme"}});
  CHECK(world.resolve({"app", "acme-audio==1.0"}) == Strings{"acme-audio 1.0+cpu[cpu]", "app 1.0"});
}

TEST_CASE("a pre-release is taken before members of unlike backends are refused") {
  NvidiaWorld world;
  for (const char* label : {"cu130", "cpu"}) world.publish("acme-vision", "0.5b1", label);
  world.publish("acme-vision", "0.5", "cu126");
  world.publish("acme-audio", "2.0.1", "cu130");
  CHECK(world.resolve({"acme-audio==2.0.1", "acme-vision>=0.5b1,<1"}).size() == 2);
  CHECK(world.resolve({"acme-audio==2.0.1", "acme-vision>0.4"}) ==
        Strings{"acme-audio 2.0.1+cu130[cu130]", "acme-vision 0.5b1+cu130[cu130]"});
  CHECK(world.remarked("acme-vision 0.5b1+cu130 is a pre-release"));
}

}  // namespace
}  // namespace axle::testing
