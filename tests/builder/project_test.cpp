#include "builder/project.h"

#include <string>

#include <doctest/doctest.h>

namespace axle::builder {
namespace {

const std::string variant_table = R"(
[variant.default-priorities]
namespace = ["x86_64"]
[variant.providers.x86_64]
requires = ["x86-64-variant-provider"]
[variant.variants.v3]
x86_64.level = ["v3"]
)";

Project parse(const std::string& text) {
  CollectedReport report;
  auto project = parse_project(text, "pyproject.toml", report);
  REQUIRE_MESSAGE(project.has_value(), project.error().message);
  return std::move(*project);
}

void check_refused(const std::string& text, std::string_view message,
                   ErrorKind kind = ErrorKind::malformed) {
  CollectedReport report;
  const auto project = parse_project(text, "pyproject.toml", report);
  REQUIRE_MESSAGE(!project.has_value(), message);
  CHECK(project.error().kind == kind);
  CHECK_MESSAGE(project.error().message.find(message) != std::string::npos,
                project.error().message);
}

const std::string head = "[project]\nname = \"demo\"\nversion = \"1.0\"\n";  // three lines

TEST_CASE("a project without anything special is one plain pure wheel") {
  const Project project = parse(head);
  CHECK(project.metadata.name == "demo");
  CHECK_FALSE(project.variants.has_value());
  REQUIRE(project.matrix.size() == 1);
  CHECK(project.matrix[0].label.empty());
  CHECK(project.python_tag == "py3");
  CHECK_FALSE(project.cmake.has_value());
}

TEST_CASE("everything of [project] that a wheel carries is read") {
  const Project project = parse(R"(
[project]
name = "My.Demo"
version = "v1.0-ALPHA1"
description = "One line"
requires-python = ">= 3.9"
dependencies = ["numpy >=1.20", "tomli; python_version < '3.11'"]
readme = "README.md"
license = "Apache-2.0"
keywords = ["a", "b"]
classifiers = ["Programming Language :: C++"]
authors = [{name = "Ann", email = "ann@example.org"}, {name = "Bob"}]
[project.optional-dependencies]
Fast_Math = ["scipy; os_name == 'posix' or os_name == 'nt'"]
[project.scripts]
demo = "demo.cli:main"
[project.entry-points."demo.plugins"]
one = "demo.one"
[project.urls]
Source = "https://example.org/demo"
)");
  const ProjectMetadata& metadata = project.metadata;
  CHECK(wheel::render_version(metadata.version) == "1.0a1");
  CHECK(metadata.requires_python == ">=3.9");
  REQUIRE(metadata.requires_dist.size() == 3);
  CHECK(metadata.requires_dist[0] == "numpy>=1.20");
  CHECK(metadata.requires_dist[1] == "tomli; python_version < \"3.11\"");
  CHECK(metadata.requires_dist[2] ==
        "scipy; (os_name == \"posix\" or os_name == \"nt\") and extra == \"fast-math\"");
  CHECK(metadata.extras == std::vector<std::string>{"fast-math"});
  CHECK(metadata.readme_type == "text/markdown");
  REQUIRE(metadata.people.size() == 2);
  CHECK(metadata.people[0] == std::pair<std::string, std::string>{"Author", "Bob"});
  CHECK(metadata.people[1].second == "Ann <ann@example.org>");
  REQUIRE(metadata.entry_points.size() == 2);
  CHECK(metadata.entry_points[0].name == "console_scripts");
  CHECK(metadata.entry_points[1].entries[0].second == "demo.one");
}

TEST_CASE("a matrix: rows in their order, definitions of CMake, null without being listed") {
  const Project project = parse(head + R"(
[tool.axle]
packages = ["python/demo"]
allow-libraries = ["libcuda.so.1"]
[tool.axle.cmake]
source = "native"
define = {FAST = true, LEVEL = 3, SETS = ["a", "b"]}
[[tool.axle.variant]]
label = "v3"
cmake = {KERNELS = "avx2"}
flags = false
[[tool.axle.variant]]
label = "null"
)" + variant_table);
  REQUIRE(project.matrix.size() == 2);
  CHECK(project.matrix[0].label == "v3");
  CHECK(project.matrix[0].settings.flags == false);
  CHECK(project.matrix[0].settings.define == Definitions{{"KERNELS", "avx2"}});
  CHECK(project.matrix[0].place == "pyproject.toml:11");
  CHECK_FALSE(project.matrix[1].settings.flags.has_value());
  CHECK(project.properties_of(project.matrix[0]).size() == 1);
  CHECK(project.properties_of(project.matrix[1]).empty());
  CHECK(project.variants->variants.contains("null"));
  REQUIRE(project.cmake.has_value());
  CHECK(project.cmake->source == "native");
  CHECK(project.cmake->define == Definitions{{"FAST", "ON"}, {"LEVEL", "3"}, {"SETS", "a;b"}});
}

TEST_CASE("without a matrix every label of [variant] is built") {
  const Project project = parse(head + variant_table);
  REQUIRE(project.matrix.size() == 1);
  CHECK(project.matrix[0].label == "v3");
}

TEST_CASE("errors of [project] name file, line and key") {
  check_refused("x = [", "pyproject.toml:1");
  check_refused("x = [", "is not TOML");
  check_refused("[tool.axle]\n", "project: the table is missing");
  check_refused("[project]\nversion = \"1\"\n",
                "pyproject.toml:1: project.name: the key is missing");
  check_refused("[project]\nname = \"a b\"\nversion = \"1\"\n", "pyproject.toml:2: project.name");
  check_refused("[project]\nname = \"a\"\nversion = \"one\"\n",
                "pyproject.toml:3: project.version");
  check_refused("[project]\nname = 1\nversion = \"1\"\n",
                "pyproject.toml:2: project.name: expected a string");
  check_refused(head + "colour = \"red\"\n", "pyproject.toml:4: project.colour: unknown key");
  check_refused(head + "dependencies = [\"a ==\"]\n", "pyproject.toml:4: project.dependencies");
  check_refused(head + "dependencies = \"a\"\n", "expected an array of strings");
  check_refused(head + "requires-python = \"3.9\"\n", "pyproject.toml:4: project.requires-python");
  check_refused(head + "description = \"a\\nb\"\n", "must be one line");
  check_refused(head + "readme = {content-type = \"text/plain\"}\n",
                "exactly one of file and text");
  check_refused(head + "scripts = {\"a=b\" = \"c\"}\n", "is not a valid entry point");
  check_refused("[project]\nname = \"a\"\ndynamic = [\"version\"]\nversion = \"1\"\n",
                "is to be set by a build back end", ErrorKind::unsupported);
}

TEST_CASE("variant markers are written on an explicit switch only") {
  const std::string project = head + "dependencies = [\"a; 'x86_64' in variant_namespaces\"]\n";
  check_refused(project, "uses the marker variant_namespaces", ErrorKind::unsupported);
  CHECK(parse(project + "[tool.axle]\nvariant-markers = true\n").metadata.requires_dist.size() ==
        1);
}

TEST_CASE("errors of [tool.axle] name file, line and key") {
  check_refused(head + "[tool.axle]\ncolour = 1\n",
                "pyproject.toml:5: tool.axle.colour: unknown key");
  check_refused(head + "[tool.axle]\npython-tag = \"cp311\"\n", "is not a valid tag such as py3");
  check_refused(head + "[tool.axle.cmake]\ndefine = {\"a b\" = 1}\n",
                "is not a valid CMake variable name");
  check_refused(head + "[tool.axle.cmake]\ndefine = {CMAKE_C_FLAGS = \"-O3\"}\n",
                "is set by the builder");
  check_refused(head + "[tool.axle.cmake]\ndefine = {A = {b = 1}}\n",
                "expected a string, a number");
  check_refused(head + "[tool.axle.cmake]\nbuild-type = \"-O3\"\n",
                "is not a valid CMake build type");
  check_refused(head + "[[tool.axle.variant]]\nlabel = \"v3\"\n",
                "the label \"v3\" needs a [variant] table");
  check_refused(head + "[[tool.axle.variant]]\nlabel = \"V3\"\n" + variant_table,
                "\"V3\" is not a valid variant label");
  check_refused(head + "[[tool.axle.variant]]\nlabel = \"v4\"\n" + variant_table,
                "pyproject.toml:5: tool.axle.variant[0].label: [variant.variants] has no label "
                "\"v4\"");
  check_refused(head + "[[tool.axle.variant]]\n[[tool.axle.variant]]\n",
                "is duplicated in the matrix");
  check_refused(head + "[tool.axle]\nvariant = [1]\n", "expected a table");
}

std::string variants_with(const std::string& providers, const std::string& variants) {
  return head + "[variant.default-priorities]\nnamespace = [\"x86_64\"]\n" + providers +
         "[variant.variants]\n" + variants;
}

TEST_CASE("[variant] is checked like the JSON, and its properties against the provider") {
  const std::string provider =
      "[variant.providers.x86_64]\nrequires = [\"x86-64-variant-provider\"]\n";
  check_refused(head + "[variant]\n", "variant.default-priorities: the table is missing");
  check_refused(variants_with("", "v3 = {x86_64 = {level = [\"v3\"]}}\n"), "x86_64");
  check_refused(variants_with(provider, "V3 = {x86_64 = {level = [\"v3\"]}}\n"), "label");
  check_refused(variants_with(provider, "v3 = {}\n"), "v3");
  check_refused(variants_with(provider, "v3 = {arm = {level = [\"v3\"]}}\n"), "arm");
  check_refused(variants_with(provider, "v9 = {x86_64 = {level = [\"v9\"]}}\n"),
                "\"x86_64 :: level :: v9\": the provider has no such value");
  check_refused(variants_with(provider, "a = {x86_64 = {amx_int8 = [\"on\"]}}\n"),
                "the provider has no feature amx_int8");
  check_refused(variants_with(provider, "a = {x86_64 = {level = [\"v2\", \"v3\"]}}\n"),
                "x86_64 :: level takes one value");
  check_refused(variants_with("[variant.providers.x86_64]\nbuild-requires = [\"x\"]\n",
                              "v3 = {x86_64 = {level = [\"v3\"]}}\n"),
                "build-requires needs to run the plugin", ErrorKind::unsupported);
  check_refused(
      variants_with("[variant.providers.x86_64]\nstatic-properties = {level = [\"v1\"]}\n",
                    "v3 = {x86_64 = {level = [\"v3\"]}}\n"),
      "the provider has no such value");
}

TEST_CASE("abi_dependency is written as PEP 850 spells it, and checked") {
  const std::string start = head +
                            "[variant.default-priorities]\nnamespace = [\"linked_with\"]\n"
                            "[variant.providers.linked_with]\nbuiltin = \"abi_dependency\"\n"
                            "[variant.variants]\n";
  CollectedReport report;
  const auto project = parse_project(
      start + "t29 = {linked_with = {torch = [\"2.9\", \"2.10.1\"]}}\n", "pyproject.toml", report);
  REQUIRE_MESSAGE(project.has_value(), project.error().message);
  CHECK(report.remarks.empty());
  check_refused(start + "t29 = {linked_with = {torch = [\"2.9.0.1\"]}}\n",
                "\"linked_with :: torch :: 2.9.0.1\": \"2.9.0.1\" is not one to three components");
  check_refused(start + "t29 = {linked_with = {my__runtime = [\"2.9\"]}}\n",
                "\"my__runtime\" is not a normalised package name");
}

TEST_CASE("a provider that is not known here is taken on trust, with a note") {
  CollectedReport report;
  const auto project = parse_project(
      variants_with("[variant.providers.x86_64]\nrequires = [\"somebody-elses-provider\"]\n",
                    "x = {x86_64 = {anything = [\"goes\"]}}\n"),
      "pyproject.toml", report);
  REQUIRE_MESSAGE(project.has_value(), project.error().message);
  REQUIRE(report.remarks.size() == 1);
  CHECK(report.remarks[0].message.find("its properties are not checked") != std::string::npos);
}

TEST_CASE("nesting is bounded") {
  check_refused("x = " + std::string(100'000, '['), "maximum nested value depth");
}

}  // namespace
}  // namespace axle::builder
