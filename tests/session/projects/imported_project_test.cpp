#include "session/projects/imported_project.h"

#include <string>
#include <vector>

#include <doctest/doctest.h>

namespace {

using axle::Result;
using axle::session::ImportedProject;
using Texts = std::vector<std::string>;

/// A line each, so that a failure shows them.
std::string lines(const Texts& texts) {
  std::string all;
  for (const std::string& text : texts) all += text + "\n";
  return all;
}

std::string error_of(const Result<ImportedProject>& read) {
  return read ? "no error" : read.error().message + " | " + read.error().hint;
}

Texts remarks_of(const ImportedProject& imported) {
  Texts texts;
  for (const auto& remark : imported.remarks) texts.push_back(remark.message);
  return texts;
}

/// "torch 2.9.0"
Texts pins_of(const ImportedProject& imported) {
  Texts texts;
  for (const auto& [name, versions] : imported.pins) {
    texts.push_back(name);
    for (const auto& one : versions) texts.back() += " " + axle::wheel::render_version(one);
  }
  return texts;
}

std::string specifiers(const std::string& constraint) {
  const auto made = axle::session::poetry_specifiers(constraint);
  return made ? *made : "error: " + made.error().message;
}

constexpr const char* uv_lock = R"(version = 1
revision = 3
requires-python = ">=3.10"

[[package]]
name = "demo"
version = "0.1.0"
source = { virtual = "." }
dependencies = [
    { name = "torch" },
    { name = "rich", marker = "sys_platform == 'linux'" },
]

[package.optional-dependencies]
fast = [{ name = "numba", extra = ["tbb"] }]

[package.dev-dependencies]
dev = [{ name = "pytest" }]

[package.metadata]
requires-dist = [
    { name = "torch", specifier = ">=2.8" },
    { name = "rich", extras = ["jupyter"], marker = "sys_platform == 'linux'", specifier = "<20" },
    { name = "numba", marker = "python_full_version < '3.14' and extra == 'fast'" },
    { name = "tbb", marker = "extra == 'fast'" },
    { name = "other", git = "https://host/other?tag=v1#0123" },
    { name = "beside", editable = "../beside" },
]
provides-extras = ["fast"]

[package.metadata.requires-dev]
dev = [{ name = "pytest", specifier = ">=8" }]
docs = []

[[package]]
name = "torch"
version = "2.9.0"
source = { registry = "https://host/simple" }
dependencies = [{ name = "sympy" }]

[[package]]
name = "sympy"
version = "1.13.3"
source = { registry = "https://host/simple" }

[[package]]
name = "rich"
version = "14.0.0"
source = { registry = "https://host/simple" }

[[package]]
name = "numba"
version = "0.60.0"
source = { registry = "https://host/simple" }
resolution-markers = ["python_full_version < '3.11'"]

[[package]]
name = "numba"
version = "0.61.0"
source = { registry = "https://host/simple" }

[[package]]
name = "pytest"
version = "8.4.0"
source = { registry = "https://host/simple" }

[[package]]
name = "unreached"
version = "1"
source = { registry = "https://host/simple" }

[[package]]
name = "other"
version = "1"
source = { git = "https://host/other?tag=v1#0123" }
)";

}  // namespace

TEST_CASE("uv.lock: what its project requires, and the versions that it reaches") {
  const auto read = axle::session::parse_uv_lock(uv_lock, "uv.lock");
  REQUIRE_MESSAGE(read, error_of(read));
  CHECK(read->name == "demo");
  CHECK(read->requires_python == ">=3.10");
  CHECK(lines(read->dependencies) ==
        lines(Texts{"torch>=2.8", "rich[jupyter]<20; sys_platform == \"linux\"",
                    "other @ git+https://host/other@v1"}));
  CHECK(lines(read->extras.at("fast")) ==
        lines(Texts{"numba; python_full_version < \"3.14\"", "tbb"}));
  CHECK(lines(read->groups.at("dev")) == lines(Texts{"pytest>=8"}));
  CHECK(read->groups.at("docs").empty());
  CHECK(lines(pins_of(*read)) == lines(Texts{"numba 0.61.0 0.60.0", "pytest 8.4.0", "rich 14.0.0",
                                             "sympy 1.13.3", "torch 2.9.0"}));
  CHECK(lines(remarks_of(*read)) ==
        lines(Texts{"uv.lock:27: beside is not taken: it is a folder or file of the project"}));
}

TEST_CASE("uv.lock that is not one") {
  const auto error = [](const std::string& text) {
    return error_of(axle::session::parse_uv_lock(text, "uv.lock"));
  };
  CHECK(error("").starts_with("uv.lock:1: version: the key is missing"));
  CHECK(error("version = 2\n").starts_with("uv.lock:1: version: version 2 is not known, only 1"));
  CHECK(error("version = \"1\"\n").starts_with("uv.lock:1: version: expected a number"));
  CHECK(error("version = 1\n")
            .starts_with(
                "uv.lock: of its 0 packages 0 are projects, and none is that of its own folder"));
  CHECK(error("version = 1\n[[package]]\nversion = \"1\"\n")
            .starts_with("uv.lock:2: package[0].name: the key is missing"));
  CHECK(error("version = 1\n[[package]]\nname = \"a\"\nsource = {virtual = \".\"}\n"
              "[package.metadata]\nrequires-dist = [{name = \"b\", specifier = \"x\"}]\n")
            .starts_with("uv.lock:6: package.metadata.requires-dist[0].specifier: "));
  CHECK(error("version = 1\n<<<<<<< HEAD\n").starts_with("uv.lock:2:"));
}

TEST_CASE("pylock.toml: what nobody needs was asked for") {
  const std::string start =
      "lock-version = \"1.0\"\ncreated-by = \"x\"\nrequires-python = \">=3.11\"\n";
  const auto read = axle::session::parse_pylock(
      start +
          "[[packages]]\nname = \"torch\"\nversion = \"2.9\"\ndependencies = [{name = \"sympy\"}]\n"
          "[[packages]]\nname = \"sympy\"\nversion = \"1.13\"\n"
          "[[packages]]\nname = \"here\"\ndirectory = {path = \".\"}\n"
          "[[packages]]\nname = \"two\"\nversion = \"1\"\nmarker = \"os_name == 'x'\"\n"
          "[[packages]]\nname = \"two\"\nversion = \"2\"\n",
      "pylock.toml");
  REQUIRE_MESSAGE(read, error_of(read));
  CHECK(read->requires_python == ">=3.11");
  CHECK(lines(read->dependencies) == lines(Texts{"torch", "two"}));
  CHECK(lines(pins_of(*read)) == lines(Texts{"sympy 1.13", "torch 2.9", "two 2 1"}));
  CHECK(lines(remarks_of(*read)) ==
        lines(Texts{
            "pylock.toml:11: here is not taken: it is from a folder, an archive or a repository"}));
  const auto flat = axle::session::parse_pylock(
      start + "[[packages]]\nname = \"a\"\nversion = \"1\"\n[[packages]]\nname = \"b\"\n",
      "pylock.toml");
  REQUIRE(flat);
  CHECK(lines(flat->dependencies) == lines(Texts{"a", "b"}));
  CHECK(lines(remarks_of(*flat)) ==
        lines(Texts{"pylock.toml: it does not say which of its 2 packages were asked "
                    "for: all of them become dependencies"}));
  const auto error = [](const std::string& text) {
    return error_of(axle::session::parse_pylock(text, "pylock.toml"));
  };
  CHECK(error("").starts_with("pylock.toml:1: lock-version: the key is missing"));
  CHECK(error("lock-version = \"2.0\"\n")
            .starts_with("pylock.toml:1: lock-version: version 2.0 is not known, only 1.x"));
  CHECK(error(start + "[[packages]]\nname = \"-\"\n")
            .starts_with("pylock.toml:5: packages[0].name: \"-\" is not a valid name"));
}

TEST_CASE("constraints of poetry are those of PEP 440") {
  // python-poetry.org, "Dependency specification".
  CHECK(specifiers("^1.2.3") == ">=1.2.3,<2");
  CHECK(specifiers("^1.2") == ">=1.2,<2");
  CHECK(specifiers("^1") == ">=1,<2");
  CHECK(specifiers("^0.2.3") == ">=0.2.3,<0.3");
  CHECK(specifiers("^0.0.3") == ">=0.0.3,<0.0.4");
  CHECK(specifiers("^0.0") == ">=0.0,<0.1");
  CHECK(specifiers("^0") == ">=0,<1");
  CHECK(specifiers("~1.2.3") == ">=1.2.3,<1.3");
  CHECK(specifiers("~1.2") == ">=1.2,<1.3");
  CHECK(specifiers("~1") == ">=1,<2");
  CHECK(specifiers("~=1.2") == "~=1.2");
  CHECK(specifiers("*").empty());
  CHECK(specifiers("").empty());
  CHECK(specifiers("1.2.3") == "==1.2.3");
  CHECK(specifiers("=1.2.3") == "==1.2.3");
  CHECK(specifiers("1.2.*") == "==1.2.*");
  CHECK(specifiers(">=1.2,<1.5") == ">=1.2,<1.5");
  CHECK(specifiers(">= 1.2, < 1.5") == ">=1.2,<1.5");
  CHECK(specifiers(">=1.2 <1.5") == ">=1.2,<1.5");
  CHECK(specifiers("!=1.3") == "!=1.3");
  CHECK(specifiers("^1 || ^2").starts_with("error: \"^1 || ^2\" has alternatives"));
  CHECK(specifiers("^x") == "error: \"^x\" is not a constraint of poetry's");
  CHECK(specifiers("latest") == "error: \"latest\" is not a constraint of poetry's");
}

TEST_CASE("[tool.poetry]: dependencies, extras and groups") {
  const auto read = axle::session::parse_poetry_project(R"([tool.poetry]
name = "Demo"
version = "0.1.0"

[tool.poetry.dependencies]
python = "^3.10"
torch = "^2.8"
rich = {version = "~14.0", extras = ["jupyter"], python = "<3.13", markers = "os_name == 'posix'"}
numba = {version = "*", optional = true}
left = {version = "1", optional = true}
other = {git = "https://host/other.git", tag = "v1"}
beside = {path = "../beside", develop = true}
uvloop = [{version = "<1", platform = "linux"}, {version = ">=1", platform = "darwin"}]
corp = {version = "1.0", source = "corp"}

[tool.poetry.extras]
fast = ["numba", "tbb"]

[tool.poetry.group.dev.dependencies]
pytest = ">=8"

[tool.poetry.dev-dependencies]
ruff = "*"
)",
                                                        "pyproject.toml");
  REQUIRE_MESSAGE(read, error_of(read));
  CHECK(read->name == "Demo");
  CHECK(read->requires_python == ">=3.10,<4");
  CHECK(lines(read->dependencies) ==
        lines(Texts{"corp==1.0", "other @ git+https://host/other.git@v1",
                    "rich[jupyter]>=14.0,<14.1; python_version < \"3.13\" and os_name == \"posix\"",
                    "torch>=2.8,<3", "uvloop<1; sys_platform == \"linux\"",
                    "uvloop>=1; sys_platform == \"darwin\""}));
  CHECK(lines(read->extras.at("fast")) == lines(Texts{"numba", "tbb"}));
  CHECK(lines(read->groups.at("dev")) == lines(Texts{"ruff", "pytest>=8"}));
  CHECK(lines(remarks_of(*read)) ==
        lines(Texts{"pyproject.toml:12: beside is not taken: it is a folder or file of the project",
                    "pyproject.toml:14: the source corp of corp is not taken",
                    "pyproject.toml: left is optional, and no extra has it"}));
  const auto error = [](const std::string& text) {
    return error_of(axle::session::parse_poetry_project(text, "pyproject.toml"));
  };
  CHECK(error("[project]\n").starts_with("pyproject.toml: it has no table [tool.poetry]"));
  CHECK(error("[tool.poetry.dependencies]\na = \"^1 || ^3\"\n")
            .starts_with("pyproject.toml:2: tool.poetry.dependencies.a: "));
  CHECK(error("[tool.poetry.dependencies]\na = 1\n")
            .starts_with("pyproject.toml:2: tool.poetry.dependencies.a: expected a table"));
  CHECK(
      error("[tool.poetry.extras]\nfast = [\"?umba\"]\n")
          .starts_with("pyproject.toml:2: tool.poetry.extras.fast: \"?umba\" is not a valid name"));
  // It has no path: that is refused where the place is looked at.
  const auto bare = axle::session::parse_poetry_project(
      "[tool.poetry.dependencies]\na = {git = \"git@host\"}\n", "pyproject.toml");
  REQUIRE(bare.has_value());
  CHECK(lines(bare->dependencies) == lines(Texts{"a @ git+git@host"}));
}

TEST_CASE("[[tool.poetry.source]]: one that is for all packages is remarked") {
  const auto read = axle::session::parse_poetry_project(R"([tool.poetry]
name = "demo"
[tool.poetry.dependencies]
torch = "^2.8"
[[tool.poetry.source]]
name = "mirror"
url = "https://host/simple"
[[tool.poetry.source]]
name = "corp"
url = "https://corp/simple"
priority = "explicit"
[[tool.poetry.source]]
name = "PyPI"
priority = "primary"
)",
                                                        "pyproject.toml");
  REQUIRE_MESSAGE(read, error_of(read));
  REQUIRE(read->remarks.size() == 1);
  CHECK(read->remarks[0].message ==
        "pyproject.toml:5: the source mirror, which is for all packages, is not taken");
}

TEST_CASE("poetry.lock: versions of what is from an index") {
  const std::string text = R"([[package]]
name = "Torch"
version = "2.9.0"
[[package]]
name = "other"
version = "1"
[package.source]
type = "git"
url = "https://host/other.git"
[[package]]
name = "corp"
version = "1.0"
[package.source]
type = "legacy"
url = "https://host/simple"
)";
  const auto read = axle::session::parse_poetry_lock(text + "[metadata]\nlock-version = \"2.1\"\n",
                                                     "poetry.lock");
  REQUIRE_MESSAGE(read, error_of(read));
  CHECK(lines(pins_of(*read)) == lines(Texts{"corp 1.0", "torch 2.9.0"}));
  CHECK(error_of(axle::session::parse_poetry_lock(text, "poetry.lock"))
            .starts_with("poetry.lock:1: metadata: the table is missing"));
  CHECK(error_of(
            axle::session::parse_poetry_lock("[metadata]\nlock-version = \"3.0\"\n", "poetry.lock"))
            .starts_with("poetry.lock:2: metadata.lock-version: version \"3.0\" is not known"));
}
