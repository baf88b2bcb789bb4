#include "wheel/advisory/advisory.h"

#include <string>
#include <vector>

#include <doctest/doctest.h>

#include "wheel/advisory/vulnerability.h"
#include "wheel/version.h"

using namespace axle;

namespace {

std::vector<wheel::Advisory> parse(const std::string& text) {
  auto parsed = wheel::parse_advisories(text, "advisory");
  REQUIRE_MESSAGE(parsed.has_value(), (parsed ? "" : parsed.error().message));
  return std::move(*parsed);
}

std::string error_of(const std::string& text) {
  const auto parsed = wheel::parse_advisories(text, "advisory");
  return parsed ? std::string() : parsed.error().message;
}

/// An advisory about "demo" with these events, as JSON.
std::string with_events(const std::string& events, const std::string& more = "") {
  return R"({"id": "PYSEC-1", "affected": [{"package": {"ecosystem": "PyPI", "name": "Demo"},)"
         R"("ranges": [{"type": "ECOSYSTEM", "events": [)" +
         events + "]}]" + more + "}]}";
}

bool is_affected(const std::string& json, const char* version) {
  return !wheel::find_vulnerabilities(parse(json), "demo", *wheel::parse_version(version)).empty();
}

std::string fixes(const std::string& json, const char* version) {
  std::string text;
  for (const auto& one :
       wheel::find_vulnerabilities(parse(json), "demo", *wheel::parse_version(version)))
    for (const wheel::Version& fixed : one.fixed) text += wheel::render_version(fixed) + " ";
  return text;
}

}  // namespace

TEST_CASE("a range begins with what is introduced and ends with what is fixed") {
  const std::string range = with_events(R"({"introduced": "1.0"}, {"fixed": "2.0"})");
  for (const char* version : {"1.0", "1.0.post1", "1.9", "2.0rc1", "2.0.dev3", "1.0+cu118"})
    CHECK_MESSAGE(is_affected(range, version), version);
  for (const char* version : {"0.9", "1.0rc1", "2.0", "2.0.0", "2.0+cu118", "2.1", "1!1.0"})
    CHECK_FALSE_MESSAGE(is_affected(range, version), version);
}

TEST_CASE("the beginning is before every version") {
  const std::string range = with_events(R"({"introduced": "0"}, {"fixed": "1.0"})");
  CHECK(is_affected(range, "0.dev1"));
  CHECK(is_affected(range, "0"));
  CHECK_FALSE(is_affected(range, "1.0"));
}

TEST_CASE("the last affected version is affected, with every local version of it") {
  const std::string range = with_events(R"({"introduced": "1.0"}, {"last_affected": "1.4"})");
  CHECK(is_affected(range, "1.4"));
  CHECK(is_affected(range, "1.4.0+cu118"));
  CHECK_FALSE(is_affected(range, "1.4.1"));
  CHECK(fixes(range, "1.4").empty());
  const std::string one = with_events(R"({"last_affected": "1.4"}, {"introduced": "1.4"})");
  CHECK(is_affected(one, "1.4"));
  CHECK_FALSE(is_affected(one, "1.5"));
}

TEST_CASE("a local version counts where the advisory has one") {
  const std::string range = with_events(R"({"introduced": "0"}, {"fixed": "1.0+security.2"})");
  CHECK(is_affected(range, "1.0"));
  CHECK(is_affected(range, "1.0+security.1"));
  CHECK_FALSE(is_affected(range, "1.0+security.2"));
}

TEST_CASE("branches, in any order") {
  const std::string branches = with_events(
      R"({"fixed": "2.3"}, {"introduced": "2.0"}, {"introduced": "1.0"}, {"fixed": "1.5"})");
  CHECK(is_affected(branches, "1.4"));
  CHECK_FALSE(is_affected(branches, "1.5"));
  CHECK(is_affected(branches, "2.2"));
  CHECK(fixes(branches, "1.4") == "1.5 2.3 ");
  CHECK(fixes(branches, "2.0") == "2.3 ");
}

TEST_CASE("limits") {
  const std::string limited = with_events(R"({"introduced": "1.0"}, {"limit": "3.0"})");
  CHECK(is_affected(limited, "2.9"));
  CHECK_FALSE(is_affected(limited, "3.0"));
  CHECK(is_affected(with_events(R"({"introduced": "1.0"}, {"limit": "*"})"), "9"));
  CHECK(is_affected(with_events(R"({"introduced": "1"}, {"limit": "2"}, {"limit": "4"})"), "3"));
}

TEST_CASE("listed versions count beside ranges") {
  const std::string listed =
      with_events(R"({"introduced": "5.0"})", R"(, "versions": ["1.0", "2.0+cu118", "old-1"])");
  for (const char* version : {"1.0", "1.0.0", "1.0+anything", "2.0+cu118", "5.0"})
    CHECK_MESSAGE(is_affected(listed, version), version);
  for (const char* version : {"1.1", "2.0", "2.0+cu121"})
    CHECK_FALSE_MESSAGE(is_affected(listed, version), version);
}

TEST_CASE("what is no version makes more affected, not less") {
  CHECK(is_affected(with_events(R"({"introduced": "once upon"}, {"fixed": "2.0"})"), "1.0"));
  CHECK(is_affected(with_events(R"({"introduced": "0"}, {"fixed": "soon"})"), "99"));
  CHECK(is_affected(with_events(R"({"introduced": "0"}, {"limit": "never"})"), "99"));
}

TEST_CASE("other ecosystems, other kinds of ranges and what is withdrawn do not count") {
  CHECK(parse(R"({"id": "X", "affected": [{"package": {"ecosystem": "npm", "name": "demo"},
                  "versions": ["1.0"]}]})")
            .empty());
  CHECK(parse(R"({"id": "X", "withdrawn": "2026-01-01T00:00:00Z", "affected": [{"package":
                  {"ecosystem": "PyPI", "name": "demo"}, "versions": ["1.0"]}]})")
            .empty());
  const std::string commits = R"({"id": "X", "affected": [{"package": {"ecosystem": "PyPI",
      "name": "demo"}, "ranges": [{"type": "GIT", "events": [{"introduced": "0"}]}]}]})";
  CHECK_FALSE(is_affected(commits, "1.0"));
  CHECK(parse(R"({"id": "X"})").empty());
}

TEST_CASE("advisories that name each other are one vulnerability") {
  const auto advisory = [](const std::string& id, const std::string& aliases,
                           const std::string& fixed, const std::string& more = "") {
    return R"({"id": ")" + id + R"(", "aliases": [)" + aliases + "]," + more +
           R"("affected": [{"package": {"ecosystem": "PyPI", "name": "demo"}, "ranges": [{"type":
           "ECOSYSTEM", "events": [{"introduced": "0"}, {"fixed": ")" +
           fixed + R"("}]}]}]})";
  };
  const auto advisories = parse(
      "[" + advisory("GHSA-a", R"("CVE-1")", "2.0", R"("summary": "bad\nreally",
      "database_specific": {"severity": "HIGH"},)") +
      "," + advisory("CVE-9", "", "1.5") + "," + advisory("PYSEC-1", R"("CVE-2")", "2.1") + "," +
      advisory("OTHER-1", R"("CVE-2", "CVE-1")", "2.0",
               R"("severity": [{"type": "CVSS_V3", "score": "CVSS:3.1/AV:N"}],)") +
      "]");
  const auto found = wheel::find_vulnerabilities(advisories, "demo", *wheel::parse_version("1.0"));
  REQUIRE(found.size() == 2);
  CHECK(found[0].id == "CVE-9");
  CHECK(found[1].id == "PYSEC-1");
  CHECK(found[1].aliases == std::vector<std::string>{"CVE-1", "CVE-2", "GHSA-a", "OTHER-1"});
  CHECK(found[1].summary == "bad");
  CHECK(found[1].rating == "HIGH");
  REQUIRE(found[1].severity.size() == 1);
  CHECK(found[1].severity[0].score == "CVSS:3.1/AV:N");
  const auto sound = wheel::first_sound_version(advisories, "demo", found);
  REQUIRE(sound);
  CHECK(wheel::render_version(*sound) == "2.1");
}

TEST_CASE("an answer of OSV's API") {
  CHECK(parse(R"({"vulns": [)" + with_events(R"({"introduced": "0"})") + "]}").size() == 1);
  CHECK(parse(R"({"vulns": []})").empty());
}

TEST_CASE("what is no advisory is refused with its place") {
  CHECK(error_of("nothing").contains("advisory"));
  CHECK(error_of("3").contains("advisory"));
  CHECK(error_of("[{}]").contains("[0]: the key \"id\" is missing"));
  CHECK(error_of(R"({"id": 3})").contains("id: a number instead of a string"));
  CHECK(error_of(with_events("3")).contains("affected[0].ranges[0].events[0]"));
  CHECK(error_of(R"({"id": "X", "affected": [{"package": {"name": "demo"}}]})")
            .contains("affected[0].package: the key \"ecosystem\" is missing"));
}
