// Groups of distributions that install the same modules.

#include "index/family/alternatives.h"

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <set>
#include <sstream>
#include <string>

#include <doctest/doctest.h>

using axle::ErrorKind;
using axle::index::alternatives_of;
using axle::index::parse_alternatives;
using axle::index::shipped_alternatives;

namespace {

constexpr const char* good = R"(schema = 1
name = "kernels"
modules = ["kernels"]
date = "2026-11-22"

[sources]
README = "acme/kernels README.md"

[[members]]
name = "kernels-gpu"
needs = ["nvidia :: cuda_version_lower_bound :: 13.0"]
source = ["README"]

[[members]]
name = "Kernels[cpu]"
source = ["README"]
)";

std::string with(std::string_view old, std::string_view replacement) {
  std::string text = good;
  const std::size_t at = text.find(old);
  REQUIRE(at != text.npos);
  return text.replace(at, old.size(), replacement);
}

std::string fault(const std::string& text) {
  const auto group = parse_alternatives(text, "a.toml");
  REQUIRE_FALSE(group);
  CHECK(group.error().message.contains("a.toml"));
  return group.error().message;
}

}  // namespace

TEST_CASE("every bundled group can be read, and no project is in two") {
  std::set<std::string> seen;
  for (const auto& shipped : shipped_alternatives()) {
    const std::string name(shipped.name);
    CAPTURE(name);
    const auto group = parse_alternatives(shipped.toml, name);
    REQUIRE(group);
    CHECK(group->name == name);
    for (const std::string& project : group->projects()) {
      CHECK(seen.insert(project).second);
      REQUIRE(alternatives_of(project) != nullptr);
      CHECK(alternatives_of(project)->name == name);
    }
  }
  CHECK(seen.size() > 20);
  CHECK(alternatives_of("numpy") == nullptr);
  CHECK(alternatives_of("cv2") == nullptr);
}

TEST_CASE("the page lists every member of every bundled group") {
  std::stringstream page;
  page << std::ifstream(AXLE_SOURCE_DIR "/docs/alternatives.md").rdbuf();
  for (const auto& shipped : shipped_alternatives()) {
    const auto group = parse_alternatives(shipped.toml, std::string(shipped.name));
    for (const auto& member : group->members) {
      const std::string text =
          "`" + member.project + (member.extras.empty() ? "" : "[" + member.extras[0] + "]") + "`";
      CAPTURE(text);
      CHECK(page.str().contains(text));
    }
  }
}

TEST_CASE("members are normalised, with their extras and needs") {
  const auto group = parse_alternatives(good, "a.toml");
  REQUIRE(group);
  REQUIRE(group->members.size() == 2);
  CHECK(group->members[0].needs.size() == 1);
  CHECK(group->members[1].project == "kernels");
  CHECK(group->members[1].extras == std::vector<std::string>{"cpu"});
  CHECK_FALSE(group->same_versions);
}

TEST_CASE("each fault of a group names the file and the key") {
  CHECK(fault(with("schema = 1", "schema = 2")).contains("schema"));
  CHECK(parse_alternatives(with("schema = 1", "schema = 2"), "a").error().kind ==
        ErrorKind::unsupported);
  CHECK(fault(with("schema = 1\n", "")).contains("schema"));
  CHECK(fault(with("modules = [\"kernels\"]\n", "")).contains("modules"));
  CHECK(fault(with("\"kernels-gpu\"", "\"kernels-gpu>1\"")).contains("name"));
  CHECK(fault(with("\"Kernels[cpu]\"", "\"kernels_gpu\"")).contains("duplicate"));
  CHECK(fault(with("nvidia :: cuda_version_lower_bound :: 13.0", "nvidia 13")).contains("needs"));
  CHECK(fault(with("source = [\"README\"]", "source = [\"NOTES\"]")).contains("NOTES"));
  CHECK(fault(with("source = [\"README\"]", "sourze = [\"README\"]")).contains("source"));
  CHECK(fault(with("date = ", "data = ")).contains("date"));
  CHECK(fault(with("[[members]]\nname = \"Kernels[cpu]\"\nsource = [\"README\"]\n", ""))
            .contains("two members"));
}
