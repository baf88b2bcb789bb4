// Which wheel of a release: variants, null, plain wheels, broken metadata, pins.

#include <algorithm>
#include <string>
#include <vector>

#include <doctest/doctest.h>

#include "tests/resolver/solver_world.h"

using axle::ErrorKind;
using axle::testing::level_variants;
using axle::testing::requirement;
using axle::testing::WheelRecipe;
using axle::testing::World;
using Names = std::vector<std::string>;

namespace plan = axle::plan;
namespace resolver = axle::resolver;
namespace wheel = axle::wheel;

namespace {

bool contains(const std::string& text, std::string_view part) {
  return text.find(part) != std::string::npos;
}

std::string skip_reason(const plan::Decision& decision, std::string_view file) {
  for (const auto& skipped : decision.skipped) {
    if (contains(skipped.filename, file)) return skipped.reason;
  }
  return {};
}

std::string_view skip_code(const plan::Decision& decision, std::string_view file) {
  for (const auto& skipped : decision.skipped) {
    if (contains(skipped.filename, file)) return plan::render_skip(skipped.code);
  }
  return {};
}

struct Levels : World {
  Levels() {
    publish_variants("lib", "1.0", level_variants({"v2", "v3", "v9", "null"}));
    index.add_wheel({"lib", "1.0"});
  }
};

}  // namespace

TEST_CASE("the best variant is taken, and the decision tells the whole story") {
  Levels world;
  CHECK(world.resolve({"lib"}) == Names{"lib 1.0[v3]"});
  const plan::ResolvedPackage& package = world.package("lib");
  CHECK(package.variant_properties == wheel::VariantProperties{{"cpu", "level", "v3"}});
  const plan::Decision& decision = package.decision;
  CHECK(decision.has_variants);
  CHECK(decision.metadata_source == "https://index.test/files/lib-1.0-variants.json");
  REQUIRE(decision.ranked.size() == 3);
  CHECK(decision.ranked[0].label == "v3");
  REQUIRE(decision.ranked[0].properties.size() == 1);
  CHECK(decision.ranked[0].properties[0].property == wheel::Property{"cpu", "level", "v3"});
  CHECK(decision.ranked[0].properties[0].facts.empty());
  CHECK(decision.ranked[1].label == "v2");
  CHECK(decision.ranked[2].label == "null");
  REQUIRE(decision.rejected.size() == 1);
  CHECK(decision.rejected[0].label == "v9");
  CHECK(decision.rejected[0].property == wheel::Property{"cpu", "level", "v9"});
  CHECK(contains(decision.rejected[0].reason, "cpu :: level :: v9 is not supported"));
  REQUIRE(decision.rejected[0].facts.size() == 1);
  CHECK(decision.rejected[0].facts[0].code == axle::FactCode::not_in_list);
  CHECK(contains(axle::render_facts(decision.rejected[0].facts), "static-properties"));
  CHECK(decision.chosen_because == "cpu :: level :: v3 is supported and ranks first");
  REQUIRE(decision.origins.size() == 1);
  CHECK(decision.origins[0].origin == plan::ListOrigin::static_list);
}

TEST_CASE("null comes after every variant and before the plain wheels") {
  World world;
  world.publish_variants("lib", "1.0", level_variants({"v9", "null"}));
  world.index.add_wheel({"lib", "1.0", {}, "cp311-cp311-manylinux_2_28_x86_64"});
  CHECK(world.resolve({"lib"}) == Names{"lib 1.0[null]"});
  World without;
  without.publish_variants("lib", "1.0", level_variants({"v9"}));
  without.index.add_wheel({"lib", "1.0"});
  CHECK(without.resolve({"lib"}) == Names{"lib 1.0"});
  CHECK(without.package("lib").decision.chosen_because ==
        "no variant fits, and the plain wheel needs nothing");
}

TEST_CASE("inside a group the platform tag decides, then the higher build") {
  World world;
  const auto metadata = level_variants({"v2", "v3"});
  for (const char* tags :
       {"py3-none-any", "cp311-cp311-manylinux_2_28_x86_64", "cp311-cp311-manylinux_2_34_x86_64",
        "cp310-cp310-manylinux_2_28_x86_64"}) {
    WheelRecipe recipe{.name = "lib", .version = "1.0", .requires_dist = {}, .tags = tags};
    recipe.label = "v2";
    recipe.variants = metadata;
    world.index.add_wheel(recipe);
  }
  world.index.add_variants("lib", "1.0", metadata);
  CHECK(world.resolve({"lib"}) == Names{"lib 1.0[v2]"});
  CHECK(world.package("lib").filename == "lib-1.0-cp311-cp311-manylinux_2_34_x86_64-v2.whl");
  CHECK(contains(skip_reason(world.package("lib").decision, "cp310"), "do not fit"));
  CHECK(skip_code(world.package("lib").decision, "cp310") == "tags");

  World builds;
  for (const char* build : {"", "2", "10", "9z"}) {
    WheelRecipe recipe{.name = "lib", .version = "1.0"};
    recipe.build = build;
    builds.index.add_wheel(recipe);
  }
  CHECK(builds.resolve({"lib"}) == Names{"lib 1.0"});
  CHECK(builds.package("lib").filename == "lib-1.0-10-py3-none-any.whl");
}

TEST_CASE(
    "dependencies are those of the chosen wheel, by the properties that the target supports") {
  World world;
  auto metadata = level_variants({"v2"});
  metadata.variants["v3"] = {{"cpu", "level", "v3"}, {"cpu", "level", "v9"}};
  for (const char* label : {"v2", "v3"}) {
    WheelRecipe recipe{.name = "lib", .version = "1.0"};
    recipe.label = label;
    recipe.variants = metadata;
    recipe.requires_dist = {
        std::string("of-") + label, "by-label; variant_label == 'v3'",
        "by-property; 'cpu :: level :: v3' in variant_properties",
        "unsupported; 'cpu :: level :: v9' in variant_properties",
        "by-namespace; 'cpu' in variant_namespaces and 'cpu :: level' in variant_features"};
    world.index.add_wheel(recipe);
  }
  WheelRecipe plain{.name = "plain", .version = "1.0"};
  plain.requires_dist = {"by-label; variant_label != ''", "of-v2; 'cpu' not in variant_namespaces"};
  world.index.add_wheel(plain);
  world.index.add_variants("lib", "1.0", metadata);
  for (const char* name : {"of_v2", "of_v3", "by_label", "by_property", "by_namespace"}) {
    world.index.add_wheel({name, "1.0"});
  }
  CHECK(world.resolve({"lib"}) ==
        Names{"by-label 1.0", "by-namespace 1.0", "by-property 1.0", "lib 1.0[v3]", "of-v3 1.0"});
  CHECK(world.resolve({"plain"}) == Names{"of-v2 1.0", "plain 1.0"});
}

TEST_CASE("--no-variants takes plain wheels, for all or for one") {
  Levels world;
  world.publish_variants("other", "1.0", level_variants({"v2"}));
  world.options.plain_only = {"lib"};
  CHECK(world.resolve({"lib", "other"}) == Names{"lib 1.0", "other 1.0[v2]"});
  world.options.plain_only.clear();
  world.options.variants = false;
  CHECK(world.resolve({"lib"}) == Names{"lib 1.0"});
  CHECK(world.error({"other"}).kind == ErrorKind::unsupported);
}

TEST_CASE("a pinned label is taken or the error says why not and what there is") {
  Levels world;
  world.options.pinned_variants = {{"lib", "v2"}};
  CHECK(world.resolve({"lib"}) == Names{"lib 1.0[v2]"});
  world.options.pinned_variants = {{"lib", "null"}};
  CHECK(world.resolve({"lib"}) == Names{"lib 1.0[null]"});
  world.options.pinned_variants = {{"lib", "v9"}};
  const auto unsupported = world.error({"lib"});
  CHECK(unsupported.kind == ErrorKind::unsupported);
  CHECK(contains(unsupported.message, "cpu :: level :: v9 is not supported"));
  CHECK(contains(unsupported.hint, "null, v2, v3, v9"));
  world.options.pinned_variants = {{"lib", "v5"}};
  const auto missing = world.error({"lib"});
  CHECK(missing.kind == ErrorKind::unsupported);
  CHECK(contains(missing.message, "has no variant v5"));
  CHECK(contains(missing.hint, "null, v2, v3, v9"));
  world.options.pinned_variants = {{"stranger", "v2"}};
  CHECK(world.resolve({"lib"}) == Names{"lib 1.0[v3]"});
  CHECK(world.remarked("variant v2 is requested for stranger"));
  world.options.pinned_variants.clear();
  world.options.plain_only = {"outsider"};
  CHECK(world.resolve({"lib"}) == Names{"lib 1.0[v3]"});
  CHECK(world.remarked("a plain wheel is requested for outsider"));
}

TEST_CASE(
    "nothing that fits is unsupported, with each reason, and the decision is kept for explain") {
  World world;
  world.publish_variants("lib", "1.0", level_variants({"v8", "v9"}));
  world.index.add_wheel({"lib", "1.0", {}, "cp39-cp39-win_amd64"});
  const auto error = world.error({"lib"});
  CHECK(error.kind == ErrorKind::unsupported);
  CHECK(contains(error.message, "v8: cpu :: level :: v8 is not supported"));
  CHECK(contains(error.message, "v9: cpu :: level :: v9 is not supported"));
  CHECK(contains(error.message, "win_amd64"));
  CHECK(contains(error.hint, "variant explain lib"));
  const auto explanation =
      resolver::explain(requirement("lib"), world.target, {{&world.index}, {}, &world.index},
                        world.options, world.report);
  REQUIRE(explanation.has_value());
  CHECK_FALSE(explanation->chosen.has_value());
  CHECK(explanation->decision.ranked.empty());
  CHECK(explanation->decision.rejected.size() == 2);
  CHECK(explanation->decision.skipped.size() == 1);
}

TEST_CASE("explain tells of the newest release alone") {
  Levels world;
  world.index.add_wheel({"lib", "0.9"});
  const auto explanation =
      resolver::explain(requirement("lib<2"), world.target, {{&world.index}, {}, &world.index},
                        world.options, world.report);
  REQUIRE(explanation.has_value());
  REQUIRE(explanation->chosen.has_value());
  CHECK(explanation->chosen->variant == "v3");
  CHECK(wheel::render_version(explanation->version) == "1.0");
  CHECK_FALSE(resolver::explain(requirement("nothing"), world.target,
                                {{&world.index}, {}, &world.index}, world.options, world.report)
                  .has_value());
}

TEST_CASE("older releases are tried when no wheel of the newest fits, and it is said") {
  World world;
  world.publish_variants("lib", "2.0", level_variants({"v9"}));
  world.index.add_file("lib", "lib-3.0.tar.gz", "source");
  world.publish_variants("lib", "1.0", level_variants({"v2"}));
  CHECK(world.resolve({"lib"}) == Names{"lib 1.0[v2]"});
  CHECK(world.remarked("lib 3.0 has no wheel, only a source distribution"));
}

TEST_CASE("a release with sources only is unsupported, and the hint builds it") {
  World world;
  world.index.add_file("my-lib", "my-lib-3.0.tar.gz", "source");
  const auto error = world.error({"My.Lib"});
  CHECK(error.kind == ErrorKind::unsupported);
  CHECK(contains(error.hint, "`pip wheel --no-deps --wheel-dir wheels my-lib==3.0`"));
}

TEST_CASE(
    "a broken variants file makes the variant wheels ignored with a warning, the rest works") {
  const auto broken = [](const std::string& json) {
    World world;
    WheelRecipe recipe{.name = "lib", .version = "1.0"};
    recipe.label = "v2";
    recipe.variants = level_variants({"v2"});
    world.index.add_wheel(recipe);
    world.index.add_wheel({"lib", "1.0"});
    world.index.add_variants("lib", "1.0", json);
    CHECK(world.resolve({"lib"}) == Names{"lib 1.0"});
    CHECK(world.remarked("the variant wheels are ignored"));
    CHECK_FALSE(world.package("lib").decision.has_variants);
    CHECK_FALSE(skip_reason(world.package("lib").decision, "-v2.whl").empty());
    CHECK(skip_code(world.package("lib").decision, "-v2.whl") == "metadata");
    world.options.pinned_variants = {{"lib", "v2"}};
    CHECK(world.error({"lib"}).kind == ErrorKind::unsupported);
  };
  SUBCASE("not JSON") { broken("{"); }
  SUBCASE("an unknown major version") {
    broken(R"({"$schema": "https://variants-schema.wheelnext.dev/v7.0.0.json",
               "default-priorities": {"namespace": ["cpu"]}, "providers": {}, "variants": {}})");
  }
  SUBCASE("a namespace that the priorities do not have") {
    broken(R"({"$schema": "https://variants-schema.wheelnext.dev/peps/850/v0.2.0.json",
               "default-priorities": {"namespace": ["gpu"]},
               "providers": {"gpu": {"requires": ["x"]}},
               "variants": {"v2": {"cpu": {"level": ["v2"]}}}})");
  }
  SUBCASE("null with properties") {
    broken(R"({"$schema": "https://variants-schema.wheelnext.dev/peps/850/v0.2.0.json",
               "default-priorities": {"namespace": ["cpu"]},
               "providers": {"cpu": {"requires": ["x"]}},
               "variants": {"null": {"cpu": {"level": ["v2"]}}}})");
  }
}

TEST_CASE("a variants file that is not the listed one is an error") {
  Levels world;
  world.index.replace_bytes("lib-1.0-variants.json", "{}");
  CHECK(world.error({"lib"}).kind == ErrorKind::mismatch);
}

TEST_CASE("a label that the metadata does not have makes that wheel incompatible") {
  World world;
  const auto metadata = level_variants({"v2", "v3"});
  world.publish_variants("lib", "1.0", level_variants({"v2"}));
  WheelRecipe recipe{.name = "lib", .version = "1.0"};
  recipe.label = "v3";
  recipe.variants = metadata;
  world.index.add_wheel(recipe);
  CHECK(world.resolve({"lib"}) == Names{"lib 1.0[v2]"});
  CHECK(skip_reason(world.package("lib").decision, "-v3.whl") == "label v3 is not in the metadata");
  CHECK(skip_code(world.package("lib").decision, "-v3.whl") == "label-unknown");
}

TEST_CASE("without a variants file one wheel a label tells, and the ranking is the same") {
  World world;
  const auto metadata = level_variants({"v2", "v3", "null"});
  for (const auto& [label, properties] : metadata.variants) {
    for (const char* tags : {"py3-none-any", "cp311-cp311-manylinux_2_28_x86_64"}) {
      WheelRecipe recipe{.name = "lib", .version = "1.0", .requires_dist = {}, .tags = tags};
      recipe.label = label;
      recipe.variants = metadata;
      world.index.add_wheel(recipe);
    }
  }
  CHECK(world.resolve({"lib"}) == Names{"lib 1.0[v3]"});
  CHECK(world.package("lib").decision.metadata_source == "the wheels' own metadata");
  CHECK(world.package("lib").decision.ranked.size() == 3);
  CHECK(std::ranges::none_of(
      world.index.fetched, [](const std::string& file) { return contains(file, "py3-none-any"); }));
}

TEST_CASE("wheels that contradict each other are ignored with a warning") {
  World world;
  auto other = level_variants({"v3"});
  other.namespaces = {"gpu", "cpu"};
  other.providers["gpu"].requires_ = {"gpu-provider"};
  WheelRecipe left{.name = "lib", .version = "1.0"};
  left.label = "v2";
  left.variants = level_variants({"v2"});
  WheelRecipe right = left;
  right.label = "v3";
  right.variants = other;
  world.index.add_wheel(left);
  world.index.add_wheel(right);
  world.index.add_wheel({"lib", "1.0"});
  CHECK(world.resolve({"lib"}) == Names{"lib 1.0"});
  CHECK(world.remarked("the variant wheels are ignored"));
}

wheel::VariantMetadata built_against(const std::string& ns) {
  wheel::VariantMetadata metadata;
  metadata.schema_version = "0.2.0";
  metadata.namespaces = {ns};
  if (ns == "abi_dependency") {
    metadata.providers[ns].requires_ = {"abi-dependency"};
    metadata.providers[ns].optional = true;
  } else {
    metadata.providers[ns].builtin = "abi_dependency";
  }
  metadata.variants["t28"] = {{ns, "torch_lib", "2.8"}};
  metadata.variants["t29"] = {{ns, "torch_lib", "2.9"}, {ns, "torch_lib", "2.10.1"}};
  return metadata;
}

void add_flash(World& world, const wheel::VariantMetadata& metadata) {
  for (const auto& [label, properties] : metadata.variants) {
    WheelRecipe recipe{.name = "flash", .version = "1.0", .requires_dist = {"torch-lib"}};
    recipe.label = label;
    recipe.variants = metadata;
    world.index.add_wheel(recipe);
  }
  world.index.add_variants("flash", "1.0", metadata);
}

TEST_CASE("abi_dependency follows the version in the solution, wherever it comes from") {
  std::string ns;
  SUBCASE("reserved namespace") { ns = "abi_dependency"; }
  SUBCASE("builtin of PEP 850") { ns = "linked_with"; }
  CAPTURE(ns);
  World world;
  const wheel::VariantMetadata metadata = built_against(ns);
  add_flash(world, metadata);
  for (const char* version : {"2.8.1", "2.9.0", "2.9.3"}) {
    world.index.add_wheel({"torch_lib", version});
  }
  world.index.add_wheel({"old_app", "1.0", {"torch-lib<2.9"}});
  CHECK(world.resolve({"flash"}) == Names{"flash 1.0[t29]", "torch-lib 2.9.3"});
  CHECK(world.resolve({"flash", "torch-lib==2.8.1"}) == Names{"flash 1.0[t28]", "torch-lib 2.8.1"});
  CHECK(world.resolve({"flash", "old-app"}) ==
        Names{"flash 1.0[t28]", "old-app 1.0", "torch-lib 2.8.1"});
  world.install("torch-lib", "2.10.1");
  CHECK(world.resolve({"flash"}) == Names{"flash 1.0[t29]", "=torch-lib 2.10.1"});
  // The build for what is installed comes before a newer one for something else.
  world.installed[0].version = axle::testing::version("2.8.1");
  CHECK(world.resolve({"flash"}) == Names{"flash 1.0[t28]", "=torch-lib 2.8.1"});
  world.installed[0].version = axle::testing::version("2.7.0");
  // What is installed gives way, as for any requirement that it does not meet.
  CHECK(world.resolve({"flash"}) == Names{"flash 1.0[t29]", "torch-lib 2.9.3"});
  const auto error = world.error({"flash", "torch-lib==2.7.*"});
  CHECK(error.kind == ErrorKind::conflict);
}

TEST_CASE("what a build was linked with is brought in by others alone, from an older version too") {
  World world;
  wheel::VariantMetadata metadata = built_against("linked_with");
  metadata.variants.erase("t28");
  WheelRecipe ext{.name = "ext", .version = "1.0"};
  ext.label = "t29";
  ext.variants = metadata;
  world.index.add_wheel(ext);
  world.index.add_variants("ext", "1.0", metadata);
  world.index.add_wheel({"app", "2.0"});
  world.index.add_wheel({"app", "1.0", {"torch-lib"}});
  world.index.add_wheel({"torch_lib", "2.9.3", {"base<2"}});
  world.index.add_wheel({"base", "1.0"});
  world.index.add_wheel({"base", "2.0"});
  const auto alone = world.error({"ext"});
  CHECK_MESSAGE(contains(alone.message, "built for torch-lib 2.10.1 or 2.9, which is not part"),
                alone.message);
  CHECK(world.resolve({"app", "ext"}) ==
        Names{"app 1.0", "base 1.0", "ext 1.0[t29]", "torch-lib 2.9.3"});
  // What is only there for a build to be linked with makes no demands of its own.
  world.install("torch-lib", "2.9.0", {"base<2"});
  CHECK(world.resolve({"ext"}) == Names{"ext 1.0[t29]"});
  CHECK(world.resolve({"ext", "base>=2"}) == Names{"base 2.0", "ext 1.0[t29]"});
}

TEST_CASE("abi_dependency can be switched off like any provider") {
  World world;
  wheel::VariantMetadata metadata = built_against("linked_with");
  add_flash(world, metadata);
  world.index.add_wheel({"flash", "1.0", {"torch-lib"}});
  for (const char* version : {"2.8.1", "2.9.0"}) world.index.add_wheel({"torch_lib", version});
  CHECK(world.resolve({"flash"}) == Names{"flash 1.0[t29]", "torch-lib 2.9.0"});
  world.options.providers.disabled = {"linked_with"};
  CHECK(world.resolve({"flash"}) == Names{"flash 1.0", "torch-lib 2.9.0"});

  World optional;
  metadata.providers["linked_with"].optional = true;
  add_flash(optional, metadata);
  optional.index.add_wheel({"flash", "1.0", {"torch-lib"}});
  optional.index.add_wheel({"torch_lib", "2.8.1"});
  CHECK(optional.resolve({"flash"}) == Names{"flash 1.0", "torch-lib 2.8.1"});
  optional.options.providers.enabled = {"linked_with"};
  CHECK(optional.resolve({"flash"}) == Names{"flash 1.0[t28]", "torch-lib 2.8.1"});
}

TEST_CASE("a property of abi_dependency that names no version is never supported") {
  World world;
  wheel::VariantMetadata metadata = built_against("linked_with");
  metadata.variants["t29"] = {{"linked_with", "torch_lib", "2.09"}};
  add_flash(world, metadata);
  for (const char* version : {"2.8.1", "2.9.0"}) world.index.add_wheel({"torch_lib", version});
  CHECK(world.resolve({"flash"}) == Names{"flash 1.0[t28]", "torch-lib 2.8.1"});
  CHECK(world.remarked("\"2.09\" is not one to three components of a version"));
}
