// Index families in the solver: one label for all members, fallback labels, what is not known, what
// is installed. The machine-by-machine proof of torch's own family is torch_rule_test.cpp.

#include <algorithm>

#include <doctest/doctest.h>

#include "detect/gpu_vendors.h"
#include "index/family/family_vendors.h"
#include "tests/resolver/family_world.h"

namespace axle::resolver {
namespace {

using testing::FamilyWorld;
using testing::NvidiaWorld;
using testing::tags;

using Strings = std::vector<std::string>;

TEST_CASE("every GPU vendor may have builds of a family, the preferred one first") {
  std::vector<std::string_view> detected;
  std::vector<std::string_view> of_families;
  for (const detect::GpuVendorRow& vendor : detect::gpu_vendors()) detected.push_back(vendor.word);
  for (const index::FamilyVendor& vendor : index::family_vendors())
    of_families.push_back(vendor.word);
  CHECK_MESSAGE(detected == of_families,
                "detect/gpu_vendors.h and index/family/family_vendors.cpp have the same rows");
}

TEST_CASE("the first label of the family that fits is taken, with all that the decision knows") {
  NvidiaWorld world;
  CHECK(world.resolve({"acme"}) == Strings{"acme 2.1+cu130[cu130]"});
  const plan::ResolvedPackage& package = world.package("acme");
  CHECK(package.family == "acme");
  CHECK(package.decision.chosen_because.contains("compute capability 9.0"));
  CHECK(package.decision.metadata_source.contains("acme.toml"));
  const auto cpu = std::ranges::find(package.decision.ranked, "cpu", &plan::Fit::label);
  REQUIRE(cpu != package.decision.ranked.end());
  CHECK(cpu->evidence.contains("acme/acme wheels.yaml"));
  CHECK(std::ranges::any_of(
      package.decision.ranked.front().properties, [](const plan::DecidingProperty& deciding) {
        return axle::render_facts(deciding.facts).contains("compute capability 9.0");
      }));
}

TEST_CASE("a machine without a GPU gets the fallback and hears what it saves") {
  FamilyWorld world;
  CHECK(world.resolve({"acme"}) == Strings{"acme 2.1+cpu[cpu]"});
  CHECK_FALSE(world.remarked("GB"));
  FamilyWorld sized;
  sized.publish("acme", "2.1.1", "cpu", {}, 200'000'000);
  sized.publish("acme", "2.1.1", "cu130", {}, 1'700'000'000);
  CHECK(sized.resolve({"acme"}) == Strings{"acme 2.1.1+cpu[cpu]"});
  CHECK(sized.remarked("saves 1.50 GB compared with cu130"));
  FamilyWorld half;
  half.publish("acme", "2.1.1", "cpu");
  half.publish("acme", "2.1.1", "cu130", {}, 1'700'000'000);
  CHECK(half.resolve({"acme"}) == Strings{"acme 2.1.1+cpu[cpu]"});
  CHECK(half.remarked("saves the 1.70 GB of cu130"));
}

TEST_CASE("an older release with a build comes before the fallback of the newest") {
  NvidiaWorld world("6.1");
  CHECK(world.resolve({"acme"}) == Strings{"acme 2.0+cu126[cu126]"});
  CHECK(world.remarked("no build of acme 2.1 fits"));
  CHECK(world.remarked(
      "compute capability 6.1, and the build has compiled code for 7.5, 9.0 and 12.0"));
  CHECK(world.resolve({"acme==2.1"}) == Strings{"acme 2.1+cpu[cpu]"});
  CHECK(world.remarked("although there is a GPU"));
  FamilyWorld amd;
  amd.has_gpu(detect::GpuVendor::amd, "gfx942", "6.4");
  CHECK(amd.resolve({"acme"}) == Strings{"acme 2.0+rocm6.4[rocm6.4]"});
  CHECK(amd.remarked("no NVIDIA GPU"));
}

TEST_CASE("an old driver, PTX that it can and cannot compile") {
  CHECK(NvidiaWorld("9.0", "12.2").resolve({"acme"}) == Strings{"acme 2.0+cu126[cu126]"});
  CHECK(NvidiaWorld("10.0", "12.8").resolve({"acme==2.0"}) == Strings{"acme 2.0+cu126[cu126]"});
  CHECK(NvidiaWorld("10.0", "12.4").resolve({"acme==2.0"}) == Strings{"acme 2.0+cpu[cpu]"});
}

TEST_CASE("a build must have code for each of unlike GPUs, unless the policy says otherwise") {
  NvidiaWorld world("6.1");
  world.has_gpu(detect::GpuVendor::nvidia, "9.0");
  CHECK(world.resolve({"acme"}) == Strings{"acme 2.0+cu126[cu126]"});
  CHECK(world.remarked("no build of acme 2.1 fits"));
  CHECK(world.remarked("the build has compiled code for 7.5, 9.0 and 12.0"));
  CHECK(world.remarked("(6.1; every GPU must run it unless --gpu-policy says otherwise)"));
  world.options.providers.gpus = {providers::GpuRule::any, {}};
  CHECK(world.resolve({"acme"}) == Strings{"acme 2.1+cu130[cu130]"});
  CHECK(world.remarked("it has no code for 6.1, which this machine also has"));
  world.options.providers.gpus = {providers::GpuRule::first, {}};
  CHECK(world.resolve({"acme"}) == Strings{"acme 2.0+cu126[cu126]"});
  CHECK_FALSE(world.remarked("which this machine also has"));
  world.options.providers.gpus = {providers::GpuRule::named, {"1"}};
  CHECK(world.resolve({"acme"}) == Strings{"acme 2.1+cu130[cu130]"});
  CHECK_FALSE(world.remarked("no code for"));
  world.options.providers.gpus = {};
  world.machine.gpus[0].masked = true;
  CHECK(world.resolve({"acme"}) == Strings{"acme 2.1+cu130[cu130]"});
  CHECK_FALSE(world.remarked("no code for"));
}

TEST_CASE("a GPU that does not work is no reason to look for older releases") {
  FamilyWorld world;
  world.has_gpu(detect::GpuVendor::nvidia, "6.1");
  world.machine.gpus[0].usable = detect::Presence::blocked;
  CHECK(world.resolve({"acme"}) == Strings{"acme 2.1+cpu[cpu]"});
}

TEST_CASE("what is not known is said, and taken only when it is asked for") {
  NvidiaWorld world("7.5", "13.0");
  CHECK(world.resolve({"acme==2.0"}) == Strings{"acme 2.0+cu130[cu130]"});
  CHECK(world.remarked("does not know which GPUs the build cu130 of acme 2.0 has code for"));
  CHECK(world.resolve({"acme<2.1"}) == Strings{"acme 2.0+cpu[cpu]"});
  for (const char* label : {"cpu", "cu130", "cu199"}) world.publish("acme", "3.0", label);
  CHECK(world.resolve({"acme"}) == Strings{"acme 2.1+cu130[cu130]"});
  CHECK(world.remarked("does not know the release acme 3.0"));
  CHECK(world.resolve({"acme==3.0"}) == Strings{"acme 3.0+cu130[cu130]"});
  CHECK(world.remarked("does not know the release acme 3.0"));
  CHECK(world.resolve({"acme>=3"}) == Strings{"acme 3.0+cu130[cu130]"});
  world.options.pinned_variants = {{"acme", "cu199"}};
  CHECK(world.resolve({"acme"}) == Strings{"acme 3.0+cu199[cu199]"});
  CHECK(world.remarked("does not know the label cu199"));
  FamilyWorld none;
  none.publish("acme", "3.0", "cpu");
  CHECK(none.resolve({"acme"}) == Strings{"acme 2.1+cpu[cpu]"});
}

TEST_CASE("members come with the version and the label of the first one, in any order") {
  for (const Strings& order :
       {Strings{"acme", "acme-vision", "acme-audio"}, Strings{"acme-audio", "acme-vision", "acme"},
        Strings{"acme-vision", "acme-audio", "acme"}}) {
    NvidiaWorld pascal("6.1");
    CHECK(pascal.resolve(order) == Strings{"acme 2.0+cu126[cu126]", "acme-audio 2.0+cu126[cu126]",
                                           "acme-vision 0.3+cu126[cu126]"});
  }
  NvidiaWorld hopper;
  CHECK(hopper.resolve({"acme-vision"}) ==
        Strings{"acme 2.1+cu130[cu130]", "acme-vision 0.4+cu130[cu130]"});
  // The newest release that has a label in common with the others.
  CHECK(hopper.resolve({"acme", "acme-audio"}) ==
        Strings{"acme 2.0+cu126[cu126]", "acme-audio 2.0+cu126[cu126]"});
  CHECK(hopper.remarked("acme 2.0+cu126 is chosen, not 2.1"));
  hopper.publish("acme-audio", "2.0", "cu130");
  CHECK(hopper.resolve({"acme", "acme-audio"}) ==
        Strings{"acme 2.1+cu130[cu130]", "acme-audio 2.0+cu130[cu130]"});
  CHECK(hopper.remarked("2.0 is the last release of acme-audio, made for acme 2.0"));
}

TEST_CASE("unlike labels are a conflict that names both builds") {
  NvidiaWorld world;
  for (const Strings& order :
       {Strings{"acme==2.1", "acme-audio"}, Strings{"acme-audio", "acme==2.1"},
        Strings{"acme==2.1+cu130", "acme-audio"}, Strings{"acme-audio==2.0+cu126", "acme==2.1"}}) {
    CAPTURE(order.front());
    const Unresolved refused = world.error(order);
    CHECK(refused.kind == ErrorKind::conflict);
    CHECK_MESSAGE(refused.message.contains("acme 2.1"), refused.message);
    CHECK_MESSAGE(refused.message.contains("acme-audio 2.0"), refused.message);
    CHECK_MESSAGE(refused.message.contains("cu126"), refused.message);
  }
  world.index.add_wheel({"app", "1", {"acme==2.1+cu130", "acme-audio==2.0+cu126"}});
  const Unresolved of_package = world.error({"app"});
  CHECK_MESSAGE(of_package.message.contains("acme 2.1+cu130 and acme-audio 2.0+cu126 are of unlike "
                                            "backends: the members of a family have one label"),
                of_package.message);
  CHECK(of_package.hint.contains("--variant PKG=LABEL"));
}

TEST_CASE("unlike labels that the user names are taken with a word") {
  NvidiaWorld world;
  const Strings mixed{"acme 2.1+cu130[cu130]", "acme-audio 2.0+cu126[cu126]"};
  CHECK(world.resolve({"acme==2.1+cu130", "acme-audio==2.0+cu126"}) == mixed);
  CHECK(world.remarked("acme 2.1+cu130 and acme-audio 2.0+cu126 are of unlike backends"));
  world.options.pinned_variants = {{"acme-audio", "cu126"}};
  CHECK(world.resolve({"acme==2.1+cu130", "acme-audio"}) == mixed);
  // Each label must be asked for.
  CHECK(world.error({"acme==2.1", "acme-audio"}).kind == ErrorKind::conflict);
}

TEST_CASE("a label that is installed is one of them") {
  NvidiaWorld world;
  world.install("acme", "2.1+cu130");
  const Unresolved refused = world.error({"acme-audio"});
  CHECK(refused.kind == ErrorKind::conflict);
  CHECK_MESSAGE(refused.message.contains("acme 2.1+cu130"), refused.message);
  CHECK_MESSAGE(refused.message.contains("acme-audio 2.0"), refused.message);
  world.options.allow_backend_change = true;
  CHECK(world.resolve({"acme-audio"}) ==
        Strings{"acme 2.0+cu126[cu126]", "acme-audio 2.0+cu126[cu126]"});
}

TEST_CASE("what is unlike already stays as it is") {
  NvidiaWorld world;
  world.install("acme", "2.1+cu130");
  world.install("acme-audio", "2.0+cu126");
  world.index.add_wheel({"hears", "1", {"acme", "acme-audio"}});
  CHECK(world.resolve({"hears"}) == Strings{"=acme 2.1+cu130", "=acme-audio 2.0+cu126", "hears 1"});
  CHECK(world.resolve({"acme-vision"}) ==
        Strings{"=acme 2.1+cu130", "=acme-audio 2.0+cu126", "acme-vision 0.4+cu130[cu130]"});
}

TEST_CASE("members that are only dependencies keep together too") {
  NvidiaWorld world("6.1");
  world.index.add_wheel({.name = "demo", .version = "1", .requires_dist = {"acme-vision", "acme"}});
  CHECK(world.resolve({"demo"}) ==
        Strings{"acme 2.0+cu126[cu126]", "acme-vision 0.3+cu126[cu126]", "demo 1"});
}

TEST_CASE("a version of one member decides the others'") {
  NvidiaWorld world;
  CHECK(world.resolve({"acme", "acme-vision==0.3"}) ==
        Strings{"acme 2.0+cu126[cu126]", "acme-vision 0.3+cu126[cu126]"});
  CHECK(world.resolve({"acme-audio", "acme==2.0"}) ==
        Strings{"acme 2.0+cu126[cu126]", "acme-audio 2.0+cu126[cu126]"});
  const auto error = world.error({"acme==2.1", "acme-vision==0.3"});
  CHECK(error.kind == ErrorKind::conflict);
  CHECK_MESSAGE(error.message.contains("acme-vision==0.3 (requested)"), error.message);
  CHECK_MESSAGE(error.message.contains("acme-vision==0.4.* (must match acme 2.1"), error.message);
}

TEST_CASE("a pin that was left again binds nobody") {
  FamilyWorld world;
  world.index.add_wheel(
      {.name = "plug", .version = "2.0", .requires_dist = {"acme==2.0+rocm6.4", "ghost"}});
  world.index.add_wheel({.name = "plug", .version = "1.0", .requires_dist = {"acme==2.0"}});
  CHECK(world.resolve({"plug"}) == Strings{"acme 2.0+cpu[cpu]", "plug 1.0"});
}

TEST_CASE("members may be asked for in any order where one has a version") {
  NvidiaWorld world;
  const Strings expected{"acme 2.0+cu126[cu126]", "acme-vision 0.3+cu126[cu126]"};
  CHECK(world.resolve({"acme", "acme-vision==0.3"}) == expected);
  CHECK(world.resolve({"acme-vision==0.3", "acme"}) == expected);
}

TEST_CASE("a conflict between members is searched, not given up") {
  NvidiaWorld world;
  world.publish("acme", "2.0.1", "cu126");
  world.publish("acme-vision", "0.3.1", "cu126", {"acme==2.0.1"});
  world.publish("acme-audio", "2.0.2", "cu126", {"acme==2.0"});
  CHECK(world.resolve({"acme-audio==2.0.2", "acme-vision"}) ==
        Strings{"acme 2.0+cu126[cu126]", "acme-audio 2.0.2+cu126[cu126]",
                "acme-vision 0.3+cu126[cu126]"});
}

TEST_CASE("pins: a variant that fits, a backend whatever fits, a local version") {
  NvidiaWorld world;
  world.options.pinned_variants = {{"acme", "cu126"}};
  CHECK(world.resolve({"acme"}) == Strings{"acme 2.0+cu126[cu126]"});
  world.options.pinned_variants = {{"acme", "rocm6.4"}};
  CHECK(world.error({"acme"}).kind == ErrorKind::unsupported);
  world.options.pinned_variants.clear();
  world.options.forced_labels = {{"acme", "rocm6.4"}};
  CHECK(world.resolve({"acme", "acme-audio"}) ==
        Strings{"acme 2.0+rocm6.4[rocm6.4]", "acme-audio 2.0+rocm6.4[rocm6.4]"});
  CHECK(world.remarked("although this machine cannot run it: no AMD GPU"));
  world.options.forced_labels.clear();
  CHECK(world.resolve({"acme==2.0+cpu", "acme-vision"}) ==
        Strings{"acme 2.0+cpu[cpu]", "acme-vision 0.3+cpu[cpu]"});
}

TEST_CASE("--require: nothing that is not built for it") {
  NvidiaWorld world("5.0");
  world.options.required = {"nvidia"};
  auto error = world.error({"acme"});
  CHECK(error.kind == ErrorKind::unsupported);
  CHECK(error.message.contains("compute capability 5.0"));
  world.index.add_wheel({.name = "plain", .version = "1"});
  CHECK(world.error({"plain"}).message.contains("--require"));
  NvidiaWorld fits;
  fits.options.required = {"nvidia"};
  fits.index.add_wheel({.name = "plain", .version = "1", .requires_dist = {"acme"}});
  CHECK(fits.resolve({"plain"}) == Strings{"acme 2.1+cu130[cu130]", "plain 1"});
  fits.options.required = {"amd"};
  CHECK(fits.error({"plain"}).kind == ErrorKind::unsupported);
}

TEST_CASE("what is installed keeps its label, and brings the other members along when it changes") {
  NvidiaWorld world;
  world.install("acme", "2.0+cu126");
  CHECK(world.resolve({"acme-vision"}) ==
        Strings{"=acme 2.0+cu126", "acme-vision 0.3+cu126[cu126]"});
  world.options.allow_backend_change = true;
  world.index.add_wheel({.name = "modern", .version = "1", .requires_dist = {"acme>=2.1"}});
  CHECK(world.resolve({"modern"}) == Strings{"acme 2.1+cu130[cu130]", "modern 1"});
  world.install("acme-vision", "0.3+cu126", {"acme==2.0"});
  world.options.upgrade = true;
  CHECK(world.resolve({"acme"}) ==
        Strings{"acme 2.1+cu130[cu130]", "acme-vision 0.4+cu130[cu130]"});
  world.options.upgrade = false;
  world.options.allow_backend_change = false;
  world.options.forced_labels = {{"acme", "cpu"}};
  CHECK(world.resolve({"acme==2.0"}) == Strings{"acme 2.0+cpu[cpu]", "acme-vision 0.3+cpu[cpu]"});
}

TEST_CASE("an installed plain wheel has the backend of the default index's") {
  NvidiaWorld world;
  world.install("acme", "2.0");
  CHECK(world.resolve({"acme-vision"}) == Strings{"=acme 2.0", "acme-vision 0.3+cu126[cu126]"});
}

TEST_CASE("the default index's plain wheel is a candidate with the table's label") {
  NvidiaWorld world;
  world.index.add_wheel({.name = "acme", .version = "2.1.5", .tags = tags, .build = "3"});
  CHECK(world.resolve({"acme"}) == Strings{"acme 2.1.5[cu130]"});
  CHECK(world.package("acme").source == "https://index.test");
  world.index.add_wheel({.name = "acme", .version = "2.1", .tags = tags});
  CHECK(world.resolve({"acme==2.1"}) == Strings{"acme 2.1+cu130[cu130]"});
  world.options.plain_only = {"acme"};
  CHECK(world.resolve({"acme==2.1"}) == Strings{"acme 2.1"});
}

TEST_CASE("why a pinned label cannot be used is told also of a file whose name does not have it") {
  NvidiaWorld world;
  world.index.add_wheel(
      {.name = "acme", .version = "2.1.5", .tags = "cp310-cp310-manylinux_2_28_x86_64"});
  world.options.pinned_variants = {{"acme", "cu130"}};
  CHECK(world.error({"acme==2.1.5"})
            .message.contains("variant cu130 of acme 2.1.5 cannot be used: its tags cp310"));
}

TEST_CASE("published variants of a release silence the family for it") {
  NvidiaWorld world;
  world.publish_variants("acme", "2.1", testing::level_variants({"v1", "null"}));
  CHECK(world.resolve({"acme"}) == Strings{"acme 2.1[v1]"});
  CHECK(world.resolve({"acme<2.1"}) == Strings{"acme 2.0+cu126[cu126]"});
  // A backend that was asked for is not ignored.
  world.options.forced_labels = {{"acme", "cu126"}};
  const auto error = world.error({"acme==2.1"});
  CHECK_MESSAGE(error.message.contains("acme 2.1 has no build cu126"), error.message);
  CHECK_MESSAGE(error.hint.contains("it has v1, null"), error.hint);
}

TEST_CASE("what only the family's index has is not looked for elsewhere") {
  FamilyWorld world;
  world.publish("acme-rocm-tools", "1.0", "");
  world.index.add_wheel({.name = "acme_rocm_tools", .version = "9.0"});
  CHECK(world.resolve({"acme-rocm-tools"}) == Strings{"acme-rocm-tools 1.0"});
  FamilyWorld without;
  without.index.add_wheel({.name = "acme_rocm_tools", .version = "9.0"});
  CHECK(without.error({"acme-rocm-tools"}).message.contains("in https://acme.test/whl:"));
}

TEST_CASE("files without a label among labelled ones count last, and their backend is not known") {
  FamilyWorld world;
  world.publish("acme", "2.1.7", "");
  CHECK(world.resolve({"acme==2.1.7"}) == Strings{"acme 2.1.7"});
  CHECK(world.remarked("the family acme does not specify what"));
  CHECK(world.resolve({"acme"}) == Strings{"acme 2.1+cpu[cpu]"});
}

TEST_CASE("explain shows every build of the release that would be chosen") {
  NvidiaWorld world("6.1");
  const Sources sources{{&world.index}, {}, &world.index, &world.families};
  const auto explanation =
      explain(testing::requirement("acme"), world.target, sources, world.options, world.report);
  REQUIRE(explanation.has_value());
  CHECK(wheel::render_version(explanation->version) == "2.0");
  CHECK(explanation->chosen->variant == "cu126");
  CHECK(explanation->decision.rejected.size() + explanation->decision.ranked.size() == 4);
}

}  // namespace
}  // namespace axle::resolver
