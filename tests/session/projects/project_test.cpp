#include "session/projects/project.h"

#include <string>
#include <vector>

#include <doctest/doctest.h>

#include "session/settings/axle_config.h"

namespace {

using axle::Result;
using axle::session::MachineClass;
using axle::session::Project;

constexpr const char* file = "/work/demo/pyproject.toml";

Result<Project> parse(const std::string& text) { return axle::session::parse_project(text, file); }

/// With a [project] before it.
Result<Project> parse_with(const std::string& more) {
  return parse("[project]\nname = \"Demo.App\"\nversion = \"1\"\n" + more);
}

std::string error_of(const Result<Project>& project) {
  return project ? "no error" : project.error().message + " | " + project.error().hint;
}

std::vector<std::string> texts(const std::vector<axle::session::FileRequirement>& lines) {
  std::vector<std::string> result;
  for (const auto& line : lines) result.push_back(line.text);
  return result;
}

using Texts = std::vector<std::string>;

}  // namespace

TEST_CASE("a project: requirements, extras, groups, classes") {
  const auto project = parse(R"([project]
name = "Demo.App"
version = "1.0"
requires-python = ">=3.10"
dependencies = ["torch>=2", "demo-app[fast]"]

[project.optional-dependencies]
fast = ["numba"]
all = ["demo_app[fast]", "rich"]

[dependency-groups]
Dev = ["pytest", {include-group = "lint"}]
lint = ["ruff"]

[build-system]
requires = ["hatchling"]
build-backend = "hatchling.build"

[tool.axle]
environments = "by-class"

[tool.axle.machines]
train = { machine = "h100", python = "3.12", backend = "cu130" }
laptop = "none"
here = "This one"
arm = { machine = "none", platform = "aarch64-unknown-linux-gnu" }
)");
  REQUIRE_MESSAGE(project, error_of(project));
  CHECK(project->name == "demo-app");
  CHECK(project->folder == "/work/demo");
  CHECK(project->requires_python == ">=3.10");
  CHECK(texts(project->dependencies) == Texts{"torch>=2", "numba"});
  CHECK(texts(project->extras.at("fast")) == Texts{"numba"});
  CHECK(texts(project->extras.at("all")) == Texts{"rich", "numba"});
  CHECK(texts(project->groups.at("dev")) == Texts{"pytest", "ruff"});
  CHECK(texts(project->groups.at("lint")) == Texts{"ruff"});
  CHECK(project->default_groups == Texts{"dev"});
  CHECK(project->is_package);
  CHECK(project->dependencies[0].origin == std::string(file) + ":5, dependencies");
  CHECK(project->lock_path() == "/work/demo/axle.lock");
  CHECK(project->environment_path("train") == "/work/demo/.venv-train");
  REQUIRE(project->classes.size() == 4);
  CHECK(project->classes[0].name == "train");
  CHECK(project->classes[0].machine == "h100");
  CHECK(project->classes[0].python == "3.12");
  CHECK(project->classes[0].backend == "cu130");
  CHECK(project->classes[0].origin == std::string(file) + ":23");
  CHECK(project->classes[1].name == "laptop");
  CHECK(project->classes[2].machine == "this");
  CHECK(project->classes[3].platform == "aarch64-unknown-linux-gnu");
  CHECK(project->find_class("here") == &project->classes[2]);
  CHECK(project->find_class("Here") == nullptr);
}

TEST_CASE("a project that states nothing: one class, one environment") {
  const auto project = parse_with("");
  REQUIRE_MESSAGE(project, error_of(project));
  CHECK(project->dependencies.empty());
  CHECK(project->default_groups.empty());
  CHECK_FALSE(project->is_package);
  REQUIRE(project->classes.size() == 1);
  CHECK(project->classes[0].name == "default");
  CHECK(project->classes[0].machine == "this");
  CHECK(project->environment_path("default") == "/work/demo/.venv");
}

TEST_CASE("what [tool.uv] says of a project") {
  CHECK_FALSE(
      parse_with("[build-system]\nrequires = []\n[tool.uv]\npackage = false\n")->is_package);
  CHECK(parse_with("[tool.uv]\npackage = true\n")->is_package);
  const std::string groups = "[dependency-groups]\ndev = []\nDocs = []\n";
  CHECK(parse_with(groups + "[tool.uv]\ndefault-groups = \"all\"\n")->default_groups ==
        Texts{"dev", "docs"});
  CHECK(parse_with(groups + "[tool.uv]\ndefault-groups = [\"docs\"]\n")->default_groups ==
        Texts{"docs"});
  CHECK(parse_with(groups + "[tool.uv]\ndefault-groups = []\n")->default_groups.empty());
  CHECK(parse_with(groups + "[tool.axle]\ndefault-groups = [\"DOCS\"]\n[tool.uv]\n"
                            "default-groups = [\"dev\"]\n")
            ->default_groups == Texts{"docs"});
  const auto noted = parse_with("[tool.uv]\nconflicts = []\nenvironments = []\n");
  REQUIRE(noted);
  REQUIRE(noted->unfollowed.size() == 2);
  CHECK(noted->unfollowed[0].message ==
        std::string(file) +
            ":5: tool.uv.conflicts does not count: all extras and groups are "
            "locked together");
}

TEST_CASE("what is wrong with a project is said at its line") {
  struct Wrong {
    const char* text;
    const char* message;
  };
  const std::string where = file;
  const Wrong wrong[] = {
      {"dynamic = [\"dependencies\"]\n", ":4: `dependencies` is dynamic"},
      {"dynamic = [\"requires-python\"]\n", ":4: project.dynamic: requires-python is dynamic"},
      {"requires-python = \"3.x\"\n", ":4: project.requires-python: "},
      {"dependencies = [\n  \"a\",\n  \"b >\",\n]\n", ":6, dependencies: "},
      {"dependencies = \"a\"\n", ":4: dependencies is not a list"},
      {"optional-dependencies = {A-b = [], a_B = []}\n", ":4: two extras have the same name"},
      {"[dependency-groups]\na = [\"b >\"]\n", ":5, group a: "},
      {"[dependency-groups]\na = [{include-group = \"c\"}]\n", "includes the group `c`"},
      {"[tool.uv]\ndev-dependencies = []\n", ":5: tool.uv.dev-dependencies: only uv reads it"},
      {"[tool.uv]\ndefault-groups = [\"x\"]\n", ":5: default-groups: the project has no"},
      {"[tool.uv]\ndefault-groups = 1\n", ":5: tool.uv.default-groups: expected a list"},
      {"[tool.axle]\nmachine = \"h100\"\n",
       ":5: tool.axle.machine: unknown key | did you mean "
       "machines"},
      {"[tool.axle]\nenvironments = \"many\"\n",
       ":5: tool.axle.environments: \"many\" is not "
       "known"},
      {"[tool.axle]\nmachines = [\"h100\"]\n", ":5: tool.axle.machines: expected a table"},
      {"[tool.axle.machines]\n", ":4: tool.axle.machines: it names no class"},
      {"[tool.axle.machines]\n\"a b\" = \"h100\"\n",
       ":5: tool.axle.machines.a b: \"a b\" is not a "
       "valid name"},
      {"[tool.axle.machines]\na = \"\"\n", ":5: tool.axle.machines.a: the class names no machine"},
      {"[tool.axle.machines]\na = 1\n", ":5: tool.axle.machines.a: expected the name"},
      {"[tool.axle.machines]\nGPU-a = \"h100\"\ngpu_A = \"none\"\n",
       ":6: tool.axle.machines.gpu_A: the class has the name of another one: GPU-a"},
      {"[tool.axle.machines]\na = \"h100\"\na = \"none\"\n", ":6:"},
      {"[tool.axle.machines]\na = {python = \"3.12\"}\n",
       ":5: tool.axle.machines.a.machine: the key is missing"},
      {"[tool.axle.machines]\na = {machine = \"h100\", pyton = \"3.12\"}\n",
       ":5: tool.axle.machines.a.pyton: unknown key | did you mean python?"},
      {"[tool.axle.machines]\na = {machine = \"h100\", python = \"3.12.1\"}\n",
       ":5: tool.axle.machines.a.python: \"3.12.1\" is not a minor release"},
      {"[tool.axle.machines]\na = {machine = \"h100\", python = \"2.7\"}\n",
       ":5: tool.axle.machines.a.python: \"2.7\" is not a minor release"},
      {"requires-python = \">=3.11\"\n[tool.axle.machines]\na = {machine = \"h100\", "
       "python = \"3.10\"}\n",
       ":6: the class a is for Python 3.10, and requires-python is >=3.11"},
  };
  for (const Wrong& one : wrong) {
    const std::string error = error_of(parse_with(one.text));
    INFO(one.text << "\n" << error);
    CHECK(error.starts_with(where + ":"));
    CHECK(error.contains(one.message));
  }
  CHECK(error_of(parse("[tool.x]\n")) == where +
                                             ": it has no table [project] | its requirements "
                                             "are those of [project]: dependencies");
  CHECK(error_of(parse("[project]\nversion = \"1\"\n"))
            .starts_with(where + ":1: project.name: the key is missing"));
  CHECK(error_of(parse("[project]\nname = \"a\"\n"))
            .starts_with(where + ":1: project.version: the key is missing"));
  CHECK(error_of(parse("[project]\nname = \"-a\"\nversion = \"1\"\n"))
            .starts_with(where + ":2: project.name: \"-a\" is not a valid name"));
  CHECK(error_of(parse("[project\n")).starts_with(where + ":1:"));
}

TEST_CASE("a minor release that requires-python allows in part is allowed") {
  CHECK(
      parse_with("requires-python = \">=3.12.4\"\n[tool.axle.machines]\n"
                 "a = {machine = \"none\", python = \"3.12\"}\n"));
}

TEST_CASE("[tool.axle] of a project with builds and classes is one table for both readers") {
  // Every key of docs/building.md and docs/ci.md.
  const auto config = axle::session::parse_project_config(R"([tool.axle]
packages = ["demo"]
python-tag = "py3"
allow-libraries = []
allow-instructions = []
flags = true
march = "x86-64-v3"
tune = ""
compile-args = []
cuda-architectures = []
hip-architectures = []
sycl-targets = []
environment = {A = "b"}
config-settings = {a = "b"}
indexes = ["https://host/simple", "corp=folder"]
cmake = {source = "."}
toolchain = {aarch64 = {cc = "gcc"}}
ci = {imports = []}
axes = {}
product = []
variant = []
variant-markers = true
machines = {laptop = "none"}
)",
                                                          file);
  REQUIRE_MESSAGE(config, config.error().message);
  CHECK(config->environments.classes.size() == 1);
  REQUIRE(config->environments.indexes.size() == 2);
  CHECK(config->environments.indexes[0].value == "https://host/simple");
  CHECK(config->environments.indexes[1].value == "corp=/work/demo/folder");
  CHECK(config->environments.indexes[1].origin == std::string(file) + ":15");
}
