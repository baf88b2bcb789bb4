// Backends do not change by themselves, a set is one label, and a plan that breaks a sound
// installed package is refused.

#include <algorithm>

#include <doctest/doctest.h>

#include "resolver/solver/installed_needs.h"
#include "tests/resolver/family_world.h"

namespace axle::resolver {
namespace {

using testing::FamilyWorld;
using testing::NvidiaWorld;
using testing::Strings;
using testing::version;
using testing::World;

TEST_CASE("an upgrade keeps the label that is installed, whatever the machine would get") {
  FamilyWorld none;
  none.install("acme", "2.0+cu130");
  none.options.upgrade = true;
  CHECK(none.resolve({"acme"}) == Strings{"acme 2.1+cu130[cu130]"});
  CHECK(
      none.remarked("acme 2.1+cu130 keeps the installed backend, cu130; use --allow-backend-change "
                    "to get 2.1+cpu (cpu)"));
  CHECK(none.remarked("although this machine cannot run it"));
  none.options.allow_backend_change = true;
  CHECK(none.resolve({"acme"}) == Strings{"acme 2.1+cpu[cpu]"});
  none.options.allow_backend_change = false;
  none.options.open_families = {"acme"};
  CHECK(none.resolve({"acme"}) == Strings{"acme 2.1+cpu[cpu]"});
  NvidiaWorld gpu;
  gpu.install("acme", "2.0+cpu");
  gpu.options.upgrade = true;
  CHECK(gpu.resolve({"acme"}) == Strings{"acme 2.1+cpu[cpu]"});
}

TEST_CASE("an installed backend that this machine cannot run stays where a release has no other") {
  NvidiaWorld gpu;
  gpu.publish("acme", "2.2", "rocm6.4");
  gpu.install("acme", "2.0+rocm6.4");
  CHECK(gpu.resolve({"acme>=2.2"}) == Strings{"acme 2.2+rocm6.4[rocm6.4]"});
  CHECK(gpu.remarked(
      "rocm6.4 is chosen because it is installed, although this machine cannot run it"));
  gpu.index.add_wheel({.name = "app", .version = "1", .requires_dist = {"acme==2.2"}});
  CHECK(gpu.resolve({"app"}) == Strings{"acme 2.2+rocm6.4[rocm6.4]", "app 1"});
  gpu.publish("acme-audio", "2.2", "rocm6.4");
  CHECK(gpu.resolve({"acme==2.2", "acme-audio==2.2"}) ==
        Strings{"acme 2.2+rocm6.4[rocm6.4]", "acme-audio 2.2+rocm6.4[rocm6.4]"});
  // What the user opens is chosen for this machine, and nothing else stands.
  const Unresolved without = [] {
    NvidiaWorld bare;
    bare.publish("acme", "2.2", "rocm6.4");
    return bare.error({"acme>=2.2"});
  }();
  gpu.options.allow_backend_change = true;
  CHECK(gpu.error({"acme>=2.2"}).message == without.message);
  gpu.options.allow_backend_change = false;
  gpu.options.open_families = {"acme"};
  CHECK(gpu.error({"acme>=2.2"}).message == without.message);
  gpu.options.open_families.clear();
  // Where nothing stands with it either, the first plan's reason is given.
  CHECK(gpu.error({"acme>=2.3"}).changes.empty());
}

TEST_CASE("--reinstall, a version, a constraint and a dependency keep it too") {
  FamilyWorld world;
  world.install("acme", "2.0+cu126");
  world.options.reinstall = true;
  CHECK(world.resolve({"acme==2.0"}) == Strings{"acme 2.0+cu126[cu126]"});
  world.constraints = {"acme<2.1"};
  CHECK(world.resolve({"acme"}) == Strings{"acme 2.0+cu126[cu126]"});
  world.index.add_wheel({.name = "app", .version = "1", .requires_dist = {"acme"}});
  CHECK(world.resolve({"app"}) == Strings{"acme 2.0+cu126[cu126]", "app 1"});
  // The user need not be held to a version by a package that another one brings.
  world.constraints.clear();
  CHECK(world.resolve({"app"}) == Strings{"acme 2.0+cu126[cu126]", "app 1"});
}

TEST_CASE("where the new version has no such build, both plans are shown and nothing is chosen") {
  NvidiaWorld world;
  world.install("acme", "2.0+cu126");
  world.install("acme-vision", "0.3+cu126", {"acme==2.0"});
  world.options.upgrade = true;
  const Unresolved refused = world.error({"acme"});
  CHECK(refused.kind == ErrorKind::conflict);
  CHECK_MESSAGE(refused.message.contains(
                    "acme 2.0+cu126 (cu126) is installed, acme 2.1+cu130 (cu130) would replace it"),
                refused.message);
  CHECK_MESSAGE(refused.message.contains("acme 2.1 has no variant cu126"), refused.message);
  CHECK_MESSAGE(refused.hint.contains("acme 2.0+cu126 is the newest with cu126"), refused.hint);
  for (const char* way : {"--allow-backend-change", "--torch-backend", "--variant"})
    CHECK_MESSAGE(refused.hint.contains(way), refused.hint);
  REQUIRE(refused.changes.size() == 2);
  CHECK(refused.changes[0].name == "acme");
  CHECK(refused.changes[0].installed_backend == "cu126");
  CHECK(refused.changes[0].backend == "cu130");
  CHECK(refused.changes[1].name == "acme-vision");
  world.options.upgrade = false;
  world.index.add_wheel({.name = "modern", .version = "1", .requires_dist = {"acme>=2.1"}});
  for (const Strings& requests :
       {Strings{"modern"}, Strings{"modern", "acme"}, Strings{"acme==2.1"}})
    CHECK(world.error(requests).kind == ErrorKind::conflict);
}

TEST_CASE("a hint names the newest version that has the label") {
  NvidiaWorld world;
  world.publish("acme", "2.0.1", "cu126");
  world.install("acme", "2.0+cu126");
  world.options.upgrade = true;
  const Unresolved refused = world.error({"acme"});
  CHECK_MESSAGE(refused.hint.contains("acme==2.0.1+cu126 has cu126"), refused.hint);
}

TEST_CASE("a dependency may come in an older version that has the label") {
  NvidiaWorld world;
  world.publish("acme", "2.0.1", "cu126");
  world.install("acme", "2.0+cu126");
  world.index.add_wheel({.name = "newer", .version = "1", .requires_dist = {"acme>2.0"}});
  CHECK(world.resolve({"newer"}) == Strings{"acme 2.0.1+cu126[cu126]", "newer 1"});
}

TEST_CASE("a build that the user names may change the label, one that a package names may not") {
  NvidiaWorld world;
  world.install("acme", "2.0+cu126");
  world.install("acme-vision", "0.3+cu126", {"acme==2.0"});
  const Strings changed{"acme 2.0+cpu[cpu]", "acme-vision 0.3+cpu[cpu]"};
  CHECK(world.resolve({"acme==2.0+cpu"}) == changed);
  world.index.add_wheel({.name = "app", .version = "1", .requires_dist = {"acme==2.0+cpu"}});
  CHECK(world.error({"app"}).kind == ErrorKind::conflict);
  world.options.pinned_variants = {{"acme", "cpu"}};
  CHECK(world.resolve({"acme==2.0"}) == changed);
  world.options.pinned_variants.clear();
  world.options.forced_labels = {{"acme", "cpu"}};
  CHECK(world.resolve({"acme-vision"}) == Strings{"acme 2.1+cpu[cpu]", "acme-vision 0.4+cpu[cpu]"});
}

TEST_CASE("what is installed may be newer than what the machine would get, and is not taken back") {
  NvidiaWorld world("6.1");
  world.install("acme", "2.1+cu130");
  world.options.upgrade = true;
  CHECK(world.resolve({"acme"}) == Strings{"=acme 2.1+cu130"});
  CHECK(world.resolve({"acme<2.1"}) == Strings{"acme 2.0+cu130[cu130]"});
}

TEST_CASE("an installed plain wheel keeps the backend of the default index's") {
  FamilyWorld world;
  world.install("acme", "2.0");
  world.options.reinstall = true;
  CHECK(world.resolve({"acme==2.0"}) == Strings{"acme 2.0+cu126[cu126]"});
  CHECK(world.error({"acme"}).kind == ErrorKind::conflict);
}

TEST_CASE("a member that comes without the first one brings it with its own label") {
  NvidiaWorld world;
  world.install("acme-vision", "0.3+cpu");
  CHECK(world.resolve({"acme==2.0"}) == Strings{"acme 2.0+cpu[cpu]", "=acme-vision 0.3+cpu"});
}

TEST_CASE("--require is asked first, then whether the backend may change") {
  FamilyWorld none;
  none.install("acme", "2.0+cu130");
  none.options.upgrade = true;
  none.options.required = {"nvidia"};
  CHECK(none.error({"acme"}).kind == ErrorKind::unsupported);
  NvidiaWorld gpu;
  gpu.install("acme", "2.0+cpu");
  gpu.options.upgrade = true;
  gpu.options.required = {"nvidia"};
  CHECK(gpu.error({"acme"}).kind == ErrorKind::conflict);
  gpu.options.allow_backend_change = true;
  CHECK(gpu.resolve({"acme"}) == Strings{"acme 2.1+cu130[cu130]"});
}

wheel::VariantMetadata gpu_variants(const Strings& labels) {
  wheel::VariantMetadata metadata;
  metadata.schema_version = "0.2.0";
  metadata.namespaces = {"nvidia", "amd", "x86_64"};
  for (const std::string& ns : metadata.namespaces)
    metadata.providers[ns].requires_ = {ns + "-variant-provider"};
  for (const std::string& label : labels) {
    auto& properties = metadata.variants[label];
    if (label.starts_with("cu")) properties = {{"nvidia", "cuda_version_lower_bound", "12.0"}};
    if (label.starts_with("rocm")) properties = {{"amd", "gfx_arch", "gfx942"}};
    if (label == "v3") properties = {{"x86_64", "level", "v3"}};
  }
  return metadata;
}

struct VariantWorld : World {
  VariantWorld() {
    publish_variants("lib", "1.0", gpu_variants({"cu12", "rocm", "v3", "null"}));
    publish_variants("lib", "2.0", gpu_variants({"cu12", "v3", "null"}));
    publish_variants("lib", "3.0", gpu_variants({"v3", "null"}));
  }
  void has(const std::string& at, const std::string& label) {
    install("lib", at, {}, label);
    installed.back().variant_properties = gpu_variants({label}).variants.at(label);
  }
};

TEST_CASE("a variant for one vendor's GPUs becomes none for another vendor or for CPUs alone") {
  VariantWorld world;
  world.has("1.0", "cu12");
  world.options.reinstall = true;
  CHECK(world.resolve({"lib==1.0"}) == Strings{"lib 1.0[cu12]"});
  CHECK(world.resolve({"lib==2.0"}) == Strings{"lib 2.0[cu12]"});
  CHECK(world.error({"lib"}).kind == ErrorKind::conflict);
  world.options.pinned_variants = {{"lib", "null"}};
  CHECK(world.resolve({"lib"}) == Strings{"lib 3.0[null]"});
  world.options.pinned_variants.clear();
  world.options.plain_only = {"lib"};
  CHECK(world.error({"lib"}).kind != ErrorKind::conflict);
}

TEST_CASE("variants for CPUs change as the machine has it") {
  VariantWorld world;
  world.has("1.0", "v3");
  world.options.upgrade = true;
  CHECK(world.resolve({"lib"}) == Strings{"lib 3.0[null]"});
}

struct VariantsOnNvidia : VariantWorld {
  VariantsOnNvidia() {
    const providers::Features cuda{{"cuda_version_lower_bound", false, {"12.0"}}};
    options.providers.user_lists = SupportedProperties{{"nvidia", cuda}};
  }
};

TEST_CASE("a variant for CPUs does not become one for GPUs by itself") {
  VariantsOnNvidia world;
  CHECK(world.resolve({"lib<3"}) == Strings{"lib 2.0[cu12]"});
  world.has("1.0", "null");
  world.options.upgrade = true;
  CHECK(world.resolve({"lib<3"}) == Strings{"lib 2.0[null]"});
  CHECK(
      world.remarked("lib 2.0 keeps the installed backend, null; use --allow-backend-change to "
                     "get 2.0 (cu12)"));
  world.options.allow_backend_change = true;
  CHECK(world.resolve({"lib<3"}) == Strings{"lib 2.0[cu12]"});
}

TEST_CASE("a variant that another package asks for in another version is kept, or it is refused") {
  VariantsOnNvidia world;
  world.has("1.0", "cu12");
  world.index.add_wheel({"app", "1", {"lib>=2"}});
  CHECK(world.resolve({"app"}) == Strings{"app 1", "lib 2.0[cu12]"});
  world.index.add_wheel({"late", "1", {"lib>=3"}});
  const Unresolved refused = world.error({"late"});
  CHECK_MESSAGE(refused.message.contains("lib 1.0 (cu12) is installed, lib 3.0 (null) would"),
                refused.message);
  CHECK(refused.hint.contains("--allow-backend-change"));
  REQUIRE(refused.changes.size() == 1);
}

TEST_CASE("a set is the best label that all of it has, at the newest release of the first member") {
  NvidiaWorld world;
  world.publish("acme", "2.1", "cu126");
  REQUIRE(world.families.add_file(testing::small_family_with("builds = [\n", R"(builds = [
  { label = "cu126", platform = "linux_x86_64", code = ["9.0"], source = ["CI"], confidence = "high" },
)"),
                                  "acme.toml"));
  for (const Strings& order : {Strings{"acme", "acme-audio"}, Strings{"acme-audio", "acme"}}) {
    CHECK(world.resolve(order) == Strings{"acme 2.1+cu126[cu126]", "acme-audio 2.0+cu126[cu126]"});
    CHECK(world.remarked(
        "acme 2.1 is chosen with build cu126 instead of cu130, which acme-audio does not have"));
    CHECK(world.package("acme").decision.chosen_because.contains(
        "available for all members of its family"));
  }
  CHECK(world.resolve({"acme", "acme-vision"}) ==
        Strings{"acme 2.1+cu130[cu130]", "acme-vision 0.4+cu130[cu130]"});
  // vision 0.4 lacks cu126, audio cu130: older ones have a label in common.
  CHECK(world.resolve({"acme", "acme-vision", "acme-audio"}) ==
        Strings{"acme 2.0+cu126[cu126]", "acme-audio 2.0+cu126[cu126]",
                "acme-vision 0.3+cu126[cu126]"});
  world.index.add_wheel({.name = "hears", .version = "1", .requires_dist = {"acme", "acme-audio"}});
  CHECK(world.resolve({"hears"}) ==
        Strings{"acme 2.1+cu126[cu126]", "acme-audio 2.0+cu126[cu126]", "hears 1"});
}

TEST_CASE("what breaks a sound installed package is refused, and says whom, why and what to do") {
  World world;
  for (const char* at : {"1.0", "1.5", "2.0"}) world.index.add_wheel({"lib", at});
  world.install("lib", "1.0");
  world.install("neighbour", "7.0", {"lib<2"});
  world.options.upgrade = true;
  const Unresolved refused = world.error({"lib"});
  CHECK(refused.kind == ErrorKind::conflict);
  CHECK_MESSAGE(refused.message.contains(
                    "neighbour 7.0, which is installed, needs lib<2; it would get lib 2.0"),
                refused.message);
  CHECK(refused.hint.contains("name neighbour in the same command"));
  REQUIRE(refused.broken.size() == 1);
  CHECK(refused.broken[0].name == "neighbour");
  CHECK(world.resolve({"lib<2"}) == Strings{"lib 1.5"});
  world.index.add_wheel({"neighbour", "8.0", {"lib>=2"}});
  CHECK(world.resolve({"lib", "neighbour"}) == Strings{"lib 2.0", "neighbour 8.0"});
  world.options.dependencies = false;
  CHECK(world.resolve({"lib"}) == Strings{"lib 2.0"});
  CHECK(world.remarked("neighbour 7.0, which is installed, requires lib<2"));
}

TEST_CASE("a dependency comes in a version that leaves the neighbours whole, if there is one") {
  World world;
  for (const char* at : {"1.0", "1.5", "2.0"}) world.index.add_wheel({"lib", at});
  world.index.add_wheel({"app", "1.0", {"lib>1.0"}});
  world.index.add_wheel({"app2", "1.0", {"lib>=2"}});
  world.install("lib", "1.0");
  world.install("neighbour", "7.0", {"lib<2"});
  CHECK(world.resolve({"app"}) == Strings{"app 1.0", "lib 1.5"});
  const Unresolved refused = world.error({"app2"});
  CHECK(refused.kind == ErrorKind::conflict);
  const auto statement = std::ranges::find(refused.conflict.statements, plan::StatementKind::kept,
                                           &plan::Statement::kind);
  REQUIRE(statement != refused.conflict.statements.end());
  CHECK(statement->text ==
        "lib 2.0 cannot be used: neighbour 7.0, which is installed, needs lib<2");
  CHECK(std::ranges::none_of(refused.conflict.statements, [](const plan::Statement& one) {
    return one.kind == plan::StatementKind::constraint;
  }));
}

TEST_CASE("a pre-release that only an installed package names is the last resort") {
  World world;
  for (const char* at : {"1.0", "2.0rc1", "2.0rc2"}) world.index.add_wheel({"lib", at});
  world.index.add_wheel({"app", "1.0", {"lib!=2.0rc1"}});
  world.install("lib", "2.0rc1");
  world.install("neighbour", "7.0", {"lib>=2.0rc1"});
  CHECK(world.resolve({"app"}) == Strings{"app 1.0", "lib 2.0rc2"});
  CHECK(world.remarked("lib 2.0rc2 is a pre-release: no final release goes with the other"));
}

TEST_CASE("what was broken before does not stop, and is said") {
  World world;
  for (const char* at : {"1.0", "2.0", "3.0"}) world.index.add_wheel({"lib", at});
  world.install("lib", "2.0");
  world.install("neighbour", "7.0", {"lib<2", "absent"});
  world.options.upgrade = true;
  CHECK(world.resolve({"lib"}) == Strings{"lib 3.0"});
  CHECK(world.remarked("neighbour 7.0, which is installed, requires lib<2"));
}

TEST_CASE("a local version and an ABI property are needs as well") {
  World world;
  for (const char* at : {"2.9.0", "2.9.1", "2.10.0"}) world.index.add_wheel({"torch", at});
  world.install("torch", "2.9.0");
  world.install("flash-attn", "2.8.3+cu12torch2.9cxx11abitrue", {"torch"});
  world.options.upgrade = true;
  const Unresolved refused = world.error({"torch"});
  CHECK_MESSAGE(refused.message.contains("flash-attn"), refused.message);
  CHECK_MESSAGE(refused.message.contains("needs torch 2.9 for CUDA 12"), refused.message);
  CHECK(world.resolve({"torch<2.10"}) == Strings{"torch 2.9.1"});
  world.installed.back().version = version("2.8.3");
  world.installed.back().variant = "t29";
  world.installed.back().abi_needs = wheel::abi_needs(
      {}, {{"abi_dependency", "torch", "2.9"}, {"abi_dependency", "torch", "2.8"}});
  CHECK(world.error({"torch"}).message.contains("torch 2.8 or 2.9, according to its variant"));
  CHECK(world.resolve({"torch<2.10"}) == Strings{"torch 2.9.1"});
  // Nobody names torch: it comes in a version that one of the needs allows.
  world.options.upgrade = false;
  world.index.add_wheel({"app", "1.0", {"torch>2.9.0"}});
  CHECK(world.resolve({"app"}) == Strings{"app 1.0", "torch 2.9.1"});
}

}  // namespace
}  // namespace axle::resolver
