#include "session/projects/project_edit.h"

#include <string>
#include <string_view>
#include <vector>

#include <doctest/doctest.h>

namespace {

using axle::session::ProjectEdit;
using axle::session::RequirementList;
using Kind = RequirementList::Kind;

constexpr const char* head = "[project]\nname = \"demo\"\nversion = \"1\"\n";

ProjectEdit edit_of(const std::string& text) { return {"/work/pyproject.toml", text, text, {}}; }

/// The text after the change, or what is wrong.
std::string added(const std::string& text, const std::string& requirement,
                  const RequirementList& list = {}) {
  ProjectEdit edit = edit_of(text);
  const auto done = axle::session::add_requirement(edit, list, requirement);
  return done ? edit.new_text : "error: " + done.error().message + " | " + done.error().hint;
}

std::string removed(const std::string& text, const std::string& name,
                    const RequirementList& list = {}) {
  ProjectEdit edit = edit_of(text);
  const auto done = axle::session::remove_requirement(edit, list, name);
  return done ? edit.new_text : "error: " + done.error().message + " | " + done.error().hint;
}

/// With `list` as the value of dependencies.
std::string with(const std::string& list) {
  return std::string(head) + "dependencies = " + list + "\n\n[tool.x]\na = 1\n";
}

}  // namespace

TEST_CASE("a requirement is added as its neighbours are written") {
  struct Case {
    const char* before;
    const char* requirement;
    const char* after;
  };
  const Case cases[] = {
      {"[]", "b>=1", "[\n    \"b>=1\",\n]"},
      {"[ ]", "b", "[\n    \"b\",\n]"},
      {"[\n]", "b", "[\n    \"b\",\n]"},
      {"[\n  # none yet\n]", "b", "[\n  # none yet\n  \"b\",\n]"},
      {"[ # none yet\n]", "b", "[ # none yet\n    \"b\",\n]"},
      {"[\"a\"]", "b", "[\"a\", \"b\"]"},
      {"[ \"a\" ]", "b", "[ \"a\", \"b\" ]"},
      {"[\"a\",]", "b", "[\"a\", \"b\",]"},
      {"[\"b\"]", "a", "[\"a\", \"b\"]"},
      {"[\"a\", \"c\"]", "b", "[\"a\", \"b\", \"c\"]"},
      {"[\"c\", \"a\"]", "b", "[\"c\", \"a\", \"b\"]"},
      {"['a']", "b", "['a', 'b']"},
      {"['a']", "b; os_name == 'x'", "['a', 'b; os_name == \"x\"']"},
      {"[\"a\"]", "b; os_name == 'x'", "[\"a\", 'b; os_name == \"x\"']"},
      {"[\n  \"a\",\n]", "b", "[\n  \"a\",\n  \"b\",\n]"},
      {"[\n\t\"a\"\n]", "b", "[\n\t\"a\",\n\t\"b\"\n]"},
      {"[\n  \"a\" # of a\n]", "b", "[\n  \"a\", # of a\n  \"b\"\n]"},
      {"[\n  \"a\",  # of a\n  # of c\n  \"c\",\n]", "b",
       "[\n  \"a\",  # of a\n  \"b\",\n  # of c\n  \"c\",\n]"},
      {"[\n  # of b\n  \"b\",\n]", "a", "[\n  \"a\",\n  # of b\n  \"b\",\n]"},
      {"[\n  \"a\",\n  # the end\n]", "b", "[\n  \"a\",\n  \"b\",\n  # the end\n]"},
      {"[\n  \"a\",\n  \"c\"]", "d", "[\n  \"a\",\n  \"c\",\n  \"d\"]"},
      {"[\"a\",\n \"c\"]", "b", "[\"a\",\n \"b\",\n \"c\"]"},
      {"[\"a\", # of a\n]", "b", "[\"a\", # of a\n    \"b\",\n]"},
      {"[\n  \"a\"\n  , \"c\"\n]", "b", "[\n  \"a\"\n  , \"b\", \"c\"\n]"},
      {"[\r\n  \"a\",\r\n]", "b", "[\r\n  \"a\",\r\n  \"b\",\r\n]"},
  };
  for (const Case& one : cases) {
    INFO(one.before << " + " << one.requirement);
    CHECK(added(with(one.before), one.requirement) == with(one.after));
  }
}

TEST_CASE("what is there already is changed where it stands") {
  CHECK(added(with("[\"A_b>=1\", \"c\"]"), "a.b>=2") == with("[\"A_b>=2\", \"c\"]"));
  CHECK(added(with("['a>=1']"), "a[x]") == with("['a[x]>=1']"));
  CHECK(added(with("[\"a[y]\"]"), "a[x]<3") == with("[\"a[x,y]<3\"]"));
  CHECK(added(with("[\"a >= 1\"]"), "a") == with("[\"a >= 1\"]"));
  CHECK(added(with("[\"a\"]"), "a @ https://host/a-1-py3-none-any.whl") ==
        with("[\"a @ https://host/a-1-py3-none-any.whl\"]"));
  // A marker says which one; one that is not there is another requirement.
  const std::string two = "['a<2; os_name == \"x\"', 'a>=2; os_name != \"x\"']";
  CHECK(added(with(two), "a>=3; os_name != 'x'") ==
        with("['a<2; os_name == \"x\"', 'a>=3; os_name != \"x\"']"));
  CHECK(added(with("[\"a>=1\"]"), "a<9; os_name == 'x'") ==
        with("[\"a>=1\", 'a<9; os_name == \"x\"']"));
  CHECK(
      added(with(two), "a>=3") ==
      "error: /work/pyproject.toml: dependencies has 2 entries for a | name the marker of the one "
      "that is meant: NAME; MARKER");
  CHECK(added(with("[]"), "a >").starts_with("error: \"a >\": "));
}

TEST_CASE("a list that is not there is made where it belongs") {
  const std::string start = head;
  CHECK(added(start, "a") == start + "dependencies = [\n    \"a\",\n]\n");
  CHECK(added("[project]\nname = \"demo\" # no line end", "a") ==
        "[project]\nname = \"demo\" # no line end\ndependencies = [\n    \"a\",\n]\n");
  CHECK(added(start + "\n# about x\n[tool.x]\n", "a") ==
        start + "dependencies = [\n    \"a\",\n]\n\n# about x\n[tool.x]\n");
  CHECK(added(start + "\n[tool.x]\n", "a", {Kind::extra, "fast"}) ==
        start + "\n[project.optional-dependencies]\nfast = [\n    \"a\",\n]\n\n[tool.x]\n");
  CHECK(added(start, "a", {Kind::group, "dev"}) ==
        start + "\n[dependency-groups]\ndev = [\n    \"a\",\n]\n");
  CHECK(added(start + "[project.urls]\nx = \"y\"\n[tool.x]\n", "a", {Kind::group, "dev"}) ==
        start +
            "[project.urls]\nx = \"y\"\n\n[dependency-groups]\ndev = [\n    \"a\",\n]\n\n"
            "[tool.x]\n");
  const std::string extras = "[project.optional-dependencies]\nslow = []\n";
  CHECK(added(start + extras, "a", {Kind::extra, "fast"}) ==
        start + extras + "fast = [\n    \"a\",\n]\n");
  CHECK(added(start + "optional-dependencies.slow = []\n", "a", {Kind::extra, "fast"}) ==
        start + "optional-dependencies.slow = []\noptional-dependencies.fast = [\n    \"a\",\n]\n");
  CHECK(added(start + "optional-dependencies = {slow = []}\n", "a", {Kind::extra, "fast"}) ==
        start + "optional-dependencies = {slow = [], fast = [\"a\"]}\n");
  CHECK(added(start + "optional-dependencies = {}\n", "a", {Kind::extra, "fast"}) ==
        start + "optional-dependencies = { fast = [\"a\"] }\n");
  CHECK(added(start + "optional-dependencies = {fast = []}\n", "a", {Kind::extra, "Fast"}) ==
        start + "optional-dependencies = {fast = [\"a\"]}\n");
  CHECK(added("project = {name = \"demo\"}\n", "a") ==
        "project = {name = \"demo\", dependencies = [\"a\"]}\n");
  CHECK(added("project = {name = \"demo\"}\n", "a", {Kind::extra, "fast"}) ==
        "project = {name = \"demo\", optional-dependencies.fast = [\"a\"]}\n");
  CHECK(added("project.name = \"demo\"\n[tool]\n", "a", {Kind::extra, "fast"}) ==
        "project.name = \"demo\"\nproject.optional-dependencies.fast = [\n    \"a\",\n]\n[tool]\n");
  // The key as it is written, whatever it is called here.
  CHECK(added(start + "[dependency-groups]\n\"My.Group\" = []\n", "a", {Kind::group, "my-group"}) ==
        start + "[dependency-groups]\n\"My.Group\" = [\n    \"a\",\n]\n");
  CHECK(added(start + "[dependency-groups]\nall = [{include-group = \"x\"}]\nx = []\n", "a",
              {Kind::group, "all"}) ==
        start + "[dependency-groups]\nall = [{include-group = \"x\"}, \"a\"]\nx = []\n");
}

TEST_CASE("a requirement is removed with its line") {
  struct Case {
    const char* before;
    const char* after;
  };
  const Case cases[] = {
      {"[\"b\"]", "[]"},
      {"[ \"b\" ]", "[]"},
      {"[\"a\", \"b\"]", "[\"a\"]"},
      {"[\"a\", \"b\",]", "[\"a\",]"},
      {"[\"b\", \"c\"]", "[\"c\"]"},
      {"[\"a\", \"b\", \"c\"]", "[\"a\", \"c\"]"},
      {"[\n  \"a\",\n  \"b\",\n]", "[\n  \"a\",\n]"},
      {"[\n  \"a\",\n  \"b\"\n]", "[\n  \"a\"\n]"},
      {"[\n  \"b\",\n]", "[\n]"},
      {"[\n  # first\n  \"a\",\n  \"b>=1\", # of b\n  # of c\n  \"c\",\n]",
       "[\n  # first\n  \"a\",\n  # of c\n  \"c\",\n]"},
      {"[\n  \"a\", # of a\n  'b; os_name == \"x\"',\n  \"B\"\n]", "[\n  \"a\" # of a\n]"},
      {"[\r\n  \"a\",\r\n  \"b\",\r\n]", "[\r\n  \"a\",\r\n]"},
      {"[\"a\",\n \"b\"]", "[\"a\"\n ]"},
  };
  for (const Case& one : cases) {
    INFO(one.before);
    CHECK(removed(with(one.before), "b") == with(one.after));
  }
  const std::string group = std::string(head) + "[dependency-groups]\ndev = [\"b\"]\n";
  CHECK(removed(group, "b", {Kind::group, "dev"}) ==
        std::string(head) + "[dependency-groups]\ndev = []\n");
  CHECK(removed(group, "b") ==
        "error: /work/pyproject.toml: dependencies do not have \"b\" | it is in the group dev "
        "(--group dev)");
  CHECK(
      removed(group, "x") ==
      "error: /work/pyproject.toml: dependencies do not have \"x\" | pyproject.toml does not name "
      "it: another package may require it");
}

TEST_CASE("strings, comments and keys that look like lists are left alone") {
  const std::string text = R"(# dependencies = ["no"]
title = """
[project]
dependencies = ["no"]"""
x."project".dependencies = ["no"]
[["a b"."c]"]]
dependencies = ["no"]
[project] # [x]
name = 'demo # not a comment'
readme = {text = "dependencies = [", content-type = "text/plain"}
"dependen\u0063ies" = ["a"] # ] "
[tool.x]
dependencies = ["no"]
nan = nan
)";
  std::string expected = text;
  expected.replace(expected.find("[\"a\"] #"), 5, "[\"a\", \"b\"]");
  CHECK(added(text, "b") == expected);
  CHECK(removed(expected, "b") == text);
}

TEST_CASE("a lower bound is the public version, for what states neither version nor URL") {
  ProjectEdit edit =
      edit_of(with("[\"a<9\", \"b\", 'c; os_name == \"x\"', 'c[y]; os_name != \"x\"']"));
  edit.changed = {"b"};
  REQUIRE(
      axle::session::bound_requirements(edit, {}, {{"a", "8"}, {"b", "2.1.0+cu128"}, {"c", "3"}}));
  CHECK(edit.new_text == with("[\"a<9\", \"b>=2.1.0\", 'c>=3; os_name == \"x\"', "
                              "'c[y]>=3; os_name != \"x\"']"));
  CHECK(edit.changed == std::vector<std::string>{"b>=2.1.0"});
}

TEST_CASE("what is no list, or no project, is refused") {
  CHECK(added("[tool]\n", "a").starts_with("error: /work/pyproject.toml: it has no table"));
  CHECK(added(with("\"a\""), "a")
            .starts_with("error: /work/pyproject.toml:4: project.dependencies is not a list"));
  CHECK(added("[project\n", "a").starts_with("error: /work/pyproject.toml:1:"));
}
