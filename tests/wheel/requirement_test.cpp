#include "wheel/requirement.h"

#include <string>
#include <string_view>

#include <doctest/doctest.h>

namespace wheel = axle::wheel;

namespace {

wheel::Requirement requirement(std::string_view text) {
  auto parsed = wheel::parse_requirement(text);
  REQUIRE_MESSAGE(parsed.has_value(), text);
  return *parsed;
}

std::string problem(std::string_view text) {
  const auto parsed = wheel::parse_requirement(text);
  REQUIRE_FALSE_MESSAGE(parsed.has_value(), text);
  CHECK(parsed.error().kind == axle::ErrorKind::malformed);
  return parsed.error().message;
}

}  // namespace

TEST_CASE("a requirement has a name, extras, specifiers and a marker") {
  const auto parsed = requirement(" Foo.Bar [Test_All, docs,docs] >=1.0, <2 ; os_name == 'posix' ");
  CHECK(parsed.name == "Foo.Bar");
  CHECK(parsed.extras == std::vector<std::string>{"docs", "test-all"});
  CHECK(wheel::render_specifiers(parsed.specifiers) == ">=1.0,<2");
  CHECK(parsed.url.empty());
  REQUIRE(parsed.marker.has_value());
  CHECK(wheel::render_requirement(parsed) ==
        "Foo.Bar[docs,test-all]>=1.0,<2; os_name == \"posix\"");
}

TEST_CASE("a requirement may point to a URL") {
  const auto parsed = requirement("pip @ https://example.org/pip.zip#sha1=da9 ; extra == 'x'");
  CHECK(parsed.url == "https://example.org/pip.zip#sha1=da9");
  CHECK(wheel::render_requirement(parsed) ==
        "pip @ https://example.org/pip.zip#sha1=da9 ; extra == \"x\"");
  CHECK(requirement("a@b;c").url == "b;c");
  CHECK(wheel::render_requirement(requirement("a[b]@ file:///c ")) == "a[b] @ file:///c");
}

TEST_CASE("parentheses, empty extras and a trailing comma are allowed") {
  CHECK(requirement("name (>=1,<2)").specifiers.specifiers.size() == 2);
  CHECK(requirement("name ()").specifiers.empty());
  CHECK(requirement("name[]").extras.empty());
  CHECK(requirement("name>=1,").specifiers.specifiers.size() == 1);
  CHECK(requirement("name===1.0,>=2").specifiers.specifiers.size() == 2);
  CHECK(requirement("name;variant_label=='cu128'").marker->mentions("variant_label"));
}

TEST_CASE("what is not a requirement is refused with what was expected and where") {
  CHECK(problem("") == "\"\" is not a requirement: expected the name of a package at position 0");
  CHECK(problem("-x") ==
        "\"-x\" is not a requirement: expected the name of a package at position 0");
  CHECK(problem("a b").ends_with(
      "expected a version specifier, \"@\", \";\" or the end at position 2"));
  CHECK(problem("a[b").ends_with("expected \",\" or \"]\" after an extra at position 3"));
  CHECK(problem("a[b,]").ends_with("expected the name of an extra at position 4"));
  CHECK(problem("a (>=1").ends_with("expected \",\" or \")\" at position 6"));
  CHECK(problem("a>=1 <2").ends_with("expected \",\", \";\" or the end at position 5"));
  CHECK(problem("a>=1; os_name").ends_with("in, not in at position 13"));
  CHECK(problem("a @ ").ends_with("expected a URL after \"@\" at position 4"));
  CHECK(problem("a @ b\nc").ends_with("a control character in the URL at position 4"));
  CHECK(problem("a\n").ends_with("or the end at position 1"));
  CHECK(problem("a_").ends_with("\";\" or the end at position 1"));
  CHECK(problem("a[b_]").ends_with("expected \",\" or \"]\" after an extra at position 3"));
  CHECK(problem("a>=x").find("is not a valid version") != std::string::npos);
}

TEST_CASE("names are normalised as PEP 503 has it") {
  CHECK(wheel::normalize_name("Foo.-_Bar") == "foo-bar");
  CHECK(wheel::normalize_name("zope.interface") == "zope-interface");
  CHECK(wheel::normalize_name("_x_") == "-x-");
  CHECK(wheel::is_valid_name("a"));
  CHECK(wheel::is_valid_name("A.b-c_9"));
  CHECK_FALSE(wheel::is_valid_name(""));
  CHECK_FALSE(wheel::is_valid_name("a-"));
  CHECK_FALSE(wheel::is_valid_name("_a"));
  CHECK_FALSE(wheel::is_valid_name("a b"));
  CHECK_FALSE(wheel::is_valid_name("a\n"));
}
