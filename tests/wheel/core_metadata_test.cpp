#include "wheel/core_metadata.h"

#include <string>
#include <string_view>

#include <doctest/doctest.h>

namespace wheel = axle::wheel;

namespace {

wheel::CoreMetadata metadata(std::string_view text) {
  auto parsed = wheel::parse_core_metadata(text, "a.whl: METADATA");
  REQUIRE_MESSAGE(parsed.has_value(), text);
  return *parsed;
}

axle::Error problem(std::string_view text) {
  const auto parsed = wheel::parse_core_metadata(text, "a.whl: METADATA");
  REQUIRE_FALSE_MESSAGE(parsed.has_value(), text);
  return parsed.error();
}

}  // namespace

TEST_CASE("a lone carriage return ends a line, as for Python's email package") {
  const auto twice =
      axle::wheel::parse_core_metadata("Summary: x\rName: other\nName: demo\nVersion: 1\n", "M");
  REQUIRE_FALSE(twice.has_value());
  CHECK(twice.error().message.find("Name is given twice") != std::string::npos);
  const auto ended =
      axle::wheel::parse_core_metadata("Name: demo\nVersion: 1\r\rRequires-Dist: x\n", "M");
  REQUIRE(ended.has_value());
  CHECK(ended->requires_dist.empty());
  CHECK(ended->description == "Requires-Dist: x\n");
}

TEST_CASE("metadata gives what an installer needs and keeps the rest") {
  const auto parsed = metadata(
      "Metadata-Version: 2.4\r\nName: My.Pkg\nversion: 1.0-alpha1\nSummary:  a thing \n"
      "Requires-Python: >=3.9,<4\nRequires-Dist: numpy (>=1.2) ; extra == 'Fast_Math'\n"
      "Requires-Dist: rich\nProvides-Extra: Fast_Math\nX-Odd: kept\n"
      "License: one\n        two\n       |three\n\tfour\n\n# Body\nName: not a header\n");
  CHECK(parsed.metadata_version == "2.4");
  CHECK(parsed.name == "My.Pkg");
  CHECK(wheel::render_version(parsed.version) == "1.0a1");
  CHECK(parsed.summary == "a thing");
  CHECK(wheel::render_specifiers(parsed.requires_python) == ">=3.9,<4");
  REQUIRE(parsed.requires_dist.size() == 2);
  CHECK(wheel::render_requirement(parsed.requires_dist[0]) == "numpy>=1.2; extra == \"fast-math\"");
  CHECK(parsed.provides_extra == std::vector<std::string>{"fast-math"});
  REQUIRE(parsed.fields.size() == 10);
  CHECK(parsed.fields[8] == std::pair<std::string, std::string>{"X-Odd", "kept"});
  CHECK(parsed.fields[9].second == "one\ntwo\nthree\nfour");
  CHECK(parsed.description == "# Body\nName: not a header\n");
  CHECK(parsed.remarks.empty());
}

TEST_CASE("metadata without an identity is malformed") {
  CHECK(problem("").message == "a.whl: METADATA: it has no Name");
  CHECK(problem("Name: a\n").message == "a.whl: METADATA: it has no Version");
  CHECK(problem("Name: a b\nVersion: 1\n").message ==
        "a.whl: METADATA: \"a b\" is not a valid name of a package");
  CHECK(problem("Name: a\nVersion: x\n")
            .message.starts_with("a.whl: METADATA: \"x\" is not a valid version"));
  CHECK(problem("Name: a\nName: b\nVersion: 1\n").message ==
        "a.whl: METADATA: Name is given twice, as \"a\" and as \"b\"");
  CHECK(problem("Name: a\nVersion: 1\nRequires-Dist: b >\n")
            .message.starts_with("a.whl: METADATA: Requires-Dist: \"b >\" is not a requirement"));
  CHECK(problem("\nName: a\nVersion: 1\n").kind == axle::ErrorKind::malformed);
}

TEST_CASE("metadata of an unknown major version is unsupported") {
  const axle::Error error = problem("Metadata-Version: 3.0\nName: a\nVersion: 1\n");
  CHECK(error.kind == axle::ErrorKind::unsupported);
  CHECK(error.message == "a.whl: METADATA: Metadata-Version \"3.0\" is not supported (2.x is)");
  CHECK(metadata("Metadata-Version: 2.99\nName: a\nVersion: 1\n").metadata_version == "2.99");
}

TEST_CASE("mistakes that are not fatal are reported") {
  const auto wild = metadata("Name: a\nVersion: 1\nRequires-Python: >=3.6.*\n");
  CHECK(wild.requires_python.empty());
  REQUIRE(wild.remarks.size() == 2);
  CHECK(wild.remarks[0] == "it has no Metadata-Version");
  CHECK(wild.remarks[1].starts_with("Requires-Python is ignored: \">=3.6.*\" is not"));

  const auto cut = metadata("Metadata-Version: 1.0\nName: a\nVersion: 1\nno header\nName: b\n");
  CHECK(cut.description == "no header\nName: b\n");
  REQUIRE(cut.remarks.size() == 1);
  CHECK(cut.remarks[0] == "line 4 is not a header: it and the rest are treated as the description");

  const auto latin = metadata("Metadata-Version: 1.0\nName: a\nVersion: 1\nAuthor: J\xF6rg\n");
  CHECK(latin.fields.back().second == "J\xEF\xBF\xBDrg");
  CHECK(latin.remarks.size() == 1);
}

TEST_CASE("a field that is repeated with one meaning does no harm") {
  CHECK(metadata("Metadata-Version: 2.1\nName: a\nName: a\nVersion: 1\n").name == "a");
}

TEST_CASE("metadata that would take many times its length in memory is malformed") {
  const std::string head = "Metadata-Version: 2.1\nName: x\nVersion: 1\n";
  std::string fields = head;
  for (int i = 0; i < 200'000; ++i) fields += "a:\n";
  CHECK(!wheel::parse_core_metadata(fields, "METADATA"));
  std::string specifiers = head + "Requires-Dist: y>1";
  for (int i = 0; i < 200'000; ++i) specifiers += ",>1";
  CHECK(!wheel::parse_core_metadata(specifiers, "METADATA"));
  std::string parentheses = head + "Requires-Dist: y; " + std::string(60'000, '(');
  CHECK(!wheel::parse_core_metadata(parentheses, "METADATA"));
}
