// Axes, products and rows: which wheels follow from one table, and what is wrong with a table.

#include <algorithm>
#include <string>

#include <doctest/doctest.h>

#include "builder/project.h"

namespace axle::builder {
namespace {

const std::string head = "[project]\nname = \"demo\"\nversion = \"1.0\"\n";  // three lines

const std::string axes = R"(
[tool.axle.axes.gpu]
cpu = {}
sm80 = { properties = { nvidia = { sm_arch = ["80_real"] } }, cmake = { GPU = true } }
sm90 = { properties = { nvidia = { sm_arch = ["90_real"] } }, cmake = { GPU = true, SM = 90 } }
[tool.axle.axes.cpu]
any = {}
v3 = { properties.x86_64.level = ["v3"], cmake.LEVEL = 3 }
v4 = { properties.x86_64.level = ["v4"], cmake.LEVEL = 4, tune = "znver4" }
)";

Project parse(const std::string& text) {
  CollectedReport report;
  auto project = parse_project(head + text, "pyproject.toml", report);
  REQUIRE_MESSAGE(project.has_value(), project.error().message);
  return std::move(*project);
}

Error error_of(const std::string& text) {
  CollectedReport report;
  const auto project = parse_project(head + text, "pyproject.toml", report);
  REQUIRE_FALSE(project.has_value());
  return project.error();
}

void check_refused(const std::string& text, const std::string& message,
                   const std::string& hint = "") {
  const Error error = error_of(text);
  CHECK_MESSAGE(error.message.find(message) != std::string::npos, error.message);
  CHECK_MESSAGE(error.hint.find(hint) != std::string::npos, error.hint);
}

std::vector<std::string> labels(const Project& project) {
  std::vector<std::string> all;
  for (const MatrixRow& row : project.matrix) {
    all.push_back(row.label + (row.architecture.empty() ? "" : "@" + row.architecture));
  }
  return all;
}

using Labels = std::vector<std::string>;

TEST_CASE("the product of all axes in the order of the file, with null and without a [variant]") {
  const Project project = parse(axes);
  CHECK(labels(project) == Labels{"null", "v3@x86_64", "v4@x86_64", "sm80", "sm80_v3@x86_64",
                                  "sm80_v4@x86_64", "sm90", "sm90_v3@x86_64", "sm90_v4@x86_64"});
  REQUIRE(project.variants);
  // The first axis counts first; the bundled providers are written out.
  CHECK(project.variants->namespaces == Labels{"nvidia", "x86_64"});
  CHECK(project.variants->providers.at("x86_64").requires_ == Labels{"x86-64-variant-provider"});
  CHECK(project.variants->providers.at("nvidia").plugin_api ==
        "nvidia_variant_provider.plugin:NvidiaVariantPlugin");
  CHECK(project.variants->variants.size() == 9);
  CHECK(project.variants->variants.at("null").empty());
  CHECK(project.variants->variants.at("sm90_v4") ==
        wheel::VariantProperties{{"nvidia", "sm_arch", "90_real"}, {"x86_64", "level", "v4"}});
  const RowSettings& last = project.matrix.back().settings;
  CHECK(last.define == Definitions{{"GPU", "ON"}, {"SM", "90"}, {"LEVEL", "4"}});
  CHECK(last.tune == "znver4");
}

TEST_CASE("products choose axes, exclude combinations, name them and add to each other") {
  const Project project = parse(axes + R"(
[[tool.axle.product]]
axes = ["cpu", "gpu"]
label = "{gpu}.{cpu}"
exclude = [{ cpu = "any", gpu = ["sm80", "sm90"] }, { gpu = "sm80", cpu = "v3" }, { gpu = "cpu", cpu = "v4" }]
cmake.KIND = "gpu"
[[tool.axle.product]]
axes = ["cpu"]
label = "only_{cpu}"
exclude = [{ cpu = ["any", "v3"] }]
)");
  CHECK(labels(project) == Labels{"null", "cpu.v3@x86_64", "sm90.v3@x86_64", "sm80.v4@x86_64",
                                  "sm90.v4@x86_64", "only_v4@x86_64"});
  CHECK(project.matrix[1].settings.define == Definitions{{"KIND", "gpu"}, {"LEVEL", "3"}});
  CHECK(project.matrix[5].settings.define == Definitions{{"LEVEL", "4"}});
}

TEST_CASE("a row changes the combination of its label, any other is added") {
  const Project project = parse(axes + R"(
[tool.axle]
flags = false
compile-args = ["-fno-math-errno"]
[[tool.axle.variant]]
[[tool.axle.variant]]
label = "sm90_v4"
flags = true
march = "sapphirerapids"
cuda-architectures = ["90a-real"]
compile-args = ["-O3"]
cmake.LEVEL = 5
[[tool.axle.variant]]
architectures = ["aarch64"]
label = "null"
)");
  CHECK(project.matrix.size() == 11);
  CHECK(labels(project)[8] == "sm90_v4@x86_64");
  CHECK(labels(project)[9].empty());
  CHECK(labels(project)[10] == "null@aarch64");
  const RowSettings& changed = project.matrix[8].settings;
  CHECK(changed.flags == true);
  CHECK(changed.march == "sapphirerapids");
  CHECK(changed.compile_args == Labels{"-fno-math-errno", "-O3"});
  CHECK(changed.cuda_architectures == Labels{"90a-real"});
  CHECK(changed.define == Definitions{{"GPU", "ON"}, {"SM", "90"}, {"LEVEL", "5"}});
  CHECK(project.matrix[8].place == "pyproject.toml:18");
  CHECK(project.matrix[7].settings.flags == false);
}

TEST_CASE("an axis value for several architectures is a row for each") {
  const Project project = parse(R"(
[tool.axle.axes.cpu]
null = { architectures = ["x86_64", "aarch64"] }
v3 = { properties.x86_64.level = ["v3"] }
dot = { properties.aarch64.asimddp = ["on"] }
)");
  CHECK(labels(project) == Labels{"null@x86_64", "null@aarch64", "v3@x86_64", "dot@aarch64"});
  CHECK(project.variants->variants.size() == 3);
}

TEST_CASE("unknown names in a table are refused with the nearest ones, at their place") {
  check_refused("[tool.axle.axes.cpu]\nv3 = { properties.x86_64.level = [\"v5\"] }\n",
                "pyproject.toml:5: tool.axle.axes.cpu.v3: \"x86_64 :: level :: v5\": the provider "
                "has no such value",
                "it has v4");
  check_refused("[tool.axle.axes.cpu]\nv3 = { properties.x86_64.levle = [\"v3\"] }\n",
                "the provider has no feature levle", "did you mean level?");
  check_refused("[tool.axle.axes.cpu]\nv3 = { properties.x86_64.amx_int8 = [\"on\"] }\n",
                "the provider has no feature amx_int8", "the namespace axle has it");
  check_refused("[tool.axle.axes.cpu]\nv3 = { properties.x86_46.level = [\"v3\"] }\n",
                "pyproject.toml:5: tool.axle.axes.cpu.v3: \"x86_46 :: level :: v3\": the namespace "
                "x86_46 has no provider",
                "did you mean x86_64?");
  check_refused("[tool.axle.axes.cpu]\nv3 = { propertys = {} }\n",
                "tool.axle.axes.cpu.v3.propertys: unknown key", "did you mean properties?");
  check_refused("[tool.axle.axes.cpu]\nV3 = {}\n", "V3: is not a valid part of a variant label");
  check_refused("[tool.axle.axes.cpu]\n", "tool.axle.axes.cpu: the axis has no value");
  check_refused(axes + "[[tool.axle.product]]\naxes = [\"gpo\"]\n", "there is no axis \"gpo\"",
                "did you mean gpu?");
  check_refused(axes + "[[tool.axle.product]]\nexclude = [{gpu = \"sm81\"}]\n",
                "tool.axle.product[0].exclude[0].gpu: the axis gpu has no value \"sm81\"",
                "did you mean sm80");
  check_refused(axes + "[[tool.axle.product]]\naxes = [\"cpu\"]\nexclude = [{gpu = \"sm80\"}]\n",
                "the product does not have this axis");
  check_refused(axes + "[[tool.axle.product]]\nexclude = [{}]\n",
                "an empty table excludes everything");
  check_refused(axes + "[[tool.axle.product]]\nlabel = \"{cpo}\"\n", "there is no axis \"cpo\"",
                "did you mean cpu?");
  check_refused(axes + "[[tool.axle.product]]\nlabel = \"{cpu}\"\n",
                "two combinations with different properties are called \"v3\"");
  check_refused(axes + "[[tool.axle.product]]\nlabel = \"A{cpu}\"\n", "is not a valid label");
  check_refused("[[tool.axle.product]]\n", "there are no axes");
  check_refused(axes + "[[tool.axle.variant]]\nlabel = \"sm90_v5\"\n",
                "[variant.variants] has no label \"sm90_v5\"", "did you mean sm90_v3");
  check_refused(axes + "[variant.variants.sm80]\nnvidia.sm_arch = [\"80_real\"]\n",
                "a product of [tool.axle.axes] makes a variant with this label");
}

TEST_CASE("settings of a row are checked for their form") {
  const std::string row = "[[tool.axle.variant]]\n";
  check_refused(row + "architectures = [\"arm64\"]\n",
                "variant[0].architectures: \"arm64\" is not an architecture that Axle builds for");
  check_refused(row + "architectures = [\"x86_46\"]\n", "x86_46", "did you mean x86_64?");
  check_refused(row + "architectures = [\"x86_64\", \"x86_64\"]\n", "is duplicated");
  check_refused(row + "march = \"native -O3\"\n", "is not a name of a processor");
  check_refused(row + "march = \"\"\n", "is not a name of a processor");
  check_refused(row + "compile-args = [\"-O3 -g\"]\n", "is not one plain word");
  check_refused(row + "cuda-architectures = [\"80;90\"]\n", "is not one plain word");
  check_refused(row + "environment = {\"A B\" = \"1\"}\n", "is not a valid name of a variable");
  check_refused(row + "environment = {A = \"1\\n2\"}\n", "must be one line");
  check_refused(row + "config-settings = {\"a=b\" = \"1\"}\n", "is not a valid name of a setting");
  check_refused(row + "config-settings = {a = [1]}\n", "expected a string, a number");
  const Project project = parse(row + "config-settings = {a = [\"1\", \"2\"], b = true, c = 3}\n" +
                                "environment = {A = \"x y\"}\ntune = \"\"\n");
  CHECK(project.matrix[0].settings.config_settings ==
        Definitions{{"a", "1"}, {"a", "2"}, {"b", "true"}, {"c", "3"}});
  CHECK(project.matrix[0].settings.environment == Definitions{{"A", "x y"}});
  CHECK(project.matrix[0].settings.tune == "");
}

TEST_CASE("properties that no machine has together are refused, in axes and in [variant]") {
  const std::string arm = "[tool.axle.axes.arm]\ndot = { properties.aarch64.asimddp = [\"on\"] }\n";
  check_refused(axes + arm + "[[tool.axle.product]]\naxes = [\"cpu\", \"arm\"]\n",
                "variant v3_dot: no machine has all of its properties: \"aarch64 :: asimddp :: "
                "on\" is of aarch64, \"x86_64 :: level :: v3\" of x86_64",
                "exclude");
  const std::string two = "[tool.axle.axes.other]\nv2 = { properties.x86_64.level = [\"v2\"] }\n";
  check_refused(axes + two, "variant v3_v2: x86_64 :: level takes one value");
  const std::string cuda = R"(
[tool.axle.axes.low]
c13 = { properties.nvidia.cuda_version_lower_bound = ["13.0"] }
[tool.axle.axes.high]
c12 = { properties.nvidia.cuda_version_upper_bound = ["12.8"] }
)";
  check_refused(cuda,
                "cuda_version_lower_bound :: 13.0\" and \"nvidia :: "
                "cuda_version_upper_bound :: 12.8\" exclude each other");
  check_refused(
      "[variant.default-priorities]\nnamespace = [\"x86_64\", \"aarch64\"]\n"
      "[variant.providers.x86_64]\nrequires = [\"x86-64-variant-provider\"]\n"
      "[variant.providers.aarch64]\nrequires = [\"aarch64-variant-provider\"]\n"
      "[variant.variants.both]\nx86_64.level = [\"v3\"]\naarch64.asimddp = [\"on\"]\n",
      "pyproject.toml:10: variant.variants.both: variant both: no machine has all");
  check_refused(axes + "[[tool.axle.variant]]\nlabel = \"v3\"\narchitectures = [\"aarch64\"]\n",
                "variant v3: its properties are of x86_64, not of aarch64");
}

TEST_CASE("two rows of one label and architecture are refused") {
  check_refused("[[tool.axle.variant]]\n[[tool.axle.variant]]\n",
                "the plain wheel is duplicated in the matrix");
  check_refused(
      "[[tool.axle.variant]]\narchitectures = [\"x86_64\"]\n"
      "[[tool.axle.variant]]\narchitectures = [\"aarch64\", \"x86_64\"]\n",
      "the plain wheel is duplicated in the matrix");
}

TEST_CASE("what is wrong with a combination is said of the value that has it") {
  const std::string cpu = "[tool.axle.axes.cpu]\nv2 = { properties.x86_64.level = [\"v2\"] }\n";
  check_refused(cpu + "v3 = { properties.x86_64.level = [\"v3\", \"v4\"] }\n",
                "pyproject.toml:6: tool.axle.axes.cpu.v3: variant v3: x86_64 :: level takes one");
  const Project project =
      parse(cpu + "v3 = { properties.x86_64.level = [\"v3\"], march = \"haswell\" }\n" +
            "[tool.axle]\ncompile-args = [\n\"-O2\"]\nenvironment.CC = \"gcc\"\n");
  CHECK(project.matrix[0].place == "pyproject.toml:5");
  CHECK(project.matrix[1].place == "pyproject.toml:6");
  const RowSettings& row = project.matrix[1].settings;
  CHECK(row.place_of("x86_64 :: level :: v3", "") == "pyproject.toml:6");
  CHECK(row.place_of("march", "") == "pyproject.toml:6");
  CHECK(row.place_of("compile-args -O2", "") == "pyproject.toml:9");
  CHECK(row.place_of("environment.CC", "") == "pyproject.toml:10");
  CHECK(row.place_of("tune", "elsewhere") == "elsewhere");
  check_refused("[tool.axle.axes.gpu]\na = { properties.nvidia.sm_arch = [\"90\"] }\n",
                "pyproject.toml:5: tool.axle.axes.gpu.a: \"nvidia :: sm_arch :: 90\"",
                "did you mean 90_real or 90_virtual?");
}

TEST_CASE("a product without a combination, and variants that nothing tells apart, are refused") {
  check_refused(axes + "[[tool.axle.product]]\naxes = [\"cpu\"]\n" +
                    "exclude = [{ cpu = [\"any\", \"v3\", \"v4\"] }]\n",
                "product[0].exclude: every combination is excluded");
  const std::string two =
      "[tool.axle.axes.cpu]\nv3 = { properties.x86_64.level = [\"v3\"] }\n"
      "fast = { properties.x86_64.level = [\"v3\"] }\n";
  check_refused(two,
                "pyproject.toml:6: tool.axle.axes.cpu.fast: variant fast has the properties of "
                "variant v3 (pyproject.toml:5)");
  const std::string stated =
      "[variant.default-priorities]\nnamespace = [\"x86_64\"]\n"
      "[variant.providers.x86_64]\nrequires = [\"x86-64-variant-provider\"]\n"
      "[variant.variants.a]\nx86_64.level = [\"v3\"]\n";
  check_refused(stated + "[variant.variants.b]\nx86_64.level = [\"v3\"]\n",
                "pyproject.toml:10: variant.variants.b: variant b has the properties of variant a "
                "(pyproject.toml:8)");
  check_refused(stated + "[tool.axle.axes.cpu]\nv3 = { properties.x86_64.level = [\"v3\"] }\n",
                "pyproject.toml:11: tool.axle.axes.cpu.v3: variant v3 has the properties of "
                "variant a (pyproject.toml:8)");
}

TEST_CASE("namespaces of the priorities are those of the table") {
  const std::string cpu = "[tool.axle.axes.cpu]\nv3 = { properties.x86_64.level = [\"v3\"] }\n";
  check_refused(cpu + "[variant.default-priorities]\nnamespace = [\n\"x86_46\"]\n",
                "pyproject.toml:8: variant.default-priorities.namespace: no provider for the "
                "namespace \"x86_46\"",
                "did you mean x86_64?");
  check_refused(
      "[variant.providers.x86_64]\nrequires = [\"x86-64-variant-provider\"]\n"
      "[variant.variants.v3]\nx86_64.level = [\"v3\"]\n",
      "variant.default-priorities: the table is missing",
      "write [variant.default-priorities] with namespace = [\"x86_64\"]");
}

TEST_CASE("two rows that change the same combination are refused with both places") {
  const std::string rows =
      "[[tool.axle.variant]]\nlabel = \"v3\"\ntune = \"generic\"\n"
      "[[tool.axle.variant]]\nlabel = \"v3\"\n";
  check_refused(axes + rows + "tune = \"haswell\"\n",
                "tool.axle.variant[1].label: \"v3\" has a row already (pyproject.toml:13)");
  // One for an architecture after one for all.
  const Project project = parse(axes + rows + "tune = \"haswell\"\narchitectures = [\"x86_64\"]\n");
  CHECK(project.matrix[1].settings.tune == "haswell");
}

TEST_CASE("axes without any property are refused") {
  check_refused("[tool.axle.axes.cpu]\nnull = { architectures = [\"x86_64\", \"aarch64\"] }\n",
                "pyproject.toml:5: tool.axle.axes.cpu.null: no value of an axis has properties");
}

TEST_CASE("a product has bounds") {
  std::string many;
  for (const char axis : std::string("abcde")) {
    many += std::string("[tool.axle.axes.") + axis + "]\n";
    for (int value = 0; value < 10; ++value) many += "x" + std::to_string(value) + " = {}\n";
  }
  check_refused(many, "there are more than 10000 combinations");
}

}  // namespace
}  // namespace axle::builder
