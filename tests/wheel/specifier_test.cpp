#include "wheel/specifier.h"

#include <string>
#include <string_view>

#include <doctest/doctest.h>

namespace wheel = axle::wheel;

namespace {

bool contains(std::string_view specifiers, std::string_view version) {
  const auto set = wheel::parse_specifiers(specifiers);
  const auto candidate = wheel::parse_version(version);
  REQUIRE_MESSAGE(set.has_value(), specifiers);
  REQUIRE_MESSAGE(candidate.has_value(), version);
  return set->contains(*candidate);
}

std::string problem(std::string_view specifiers) {
  const auto set = wheel::parse_specifiers(specifiers);
  REQUIRE_FALSE_MESSAGE(set.has_value(), specifiers);
  CHECK(set.error().kind == axle::ErrorKind::malformed);
  return set.error().message;
}

bool admits(std::string_view specifiers) {
  const auto set = wheel::parse_specifiers(specifiers);
  REQUIRE(set.has_value());
  return set->admits_prereleases();
}

}  // namespace

TEST_CASE("a specifier that was not written down renders its version") {
  wheel::SpecifierSet set;
  set.specifiers.push_back({wheel::Comparison::not_equal, *wheel::parse_version("1.0"), false, {}});
  set.specifiers.push_back({wheel::Comparison::equal, *wheel::parse_version("2"), true, {}});
  CHECK(wheel::render_specifiers(set) == "!=1.0,==2.*");
}

TEST_CASE("equality ignores a local label that it does not name") {
  CHECK(contains("==2.8.0", "2.8.0+cu128"));
  CHECK(contains("==2.8", "2.8.0+cu128"));
  CHECK(contains("==2.8+CU128", "2.8.0+cu128"));
  CHECK_FALSE(contains("==2.8+cpu", "2.8.0+cu128"));
  CHECK_FALSE(contains("!=2.8", "2.8.0+cu128"));
  CHECK(contains("<=2.8", "2.8+cu128"));
  CHECK_FALSE(contains(">2.8", "2.8+cu128"));
  CHECK(contains(">=2.8", "2.8+cu128"));
}

TEST_CASE("a wildcard matches a prefix of the release in the same epoch") {
  CHECK(contains("==1.1.*", "1.1.post1"));
  CHECK(contains("==1.1.*", "1.1a1"));
  CHECK(contains("==1.1.0.*", "1.1"));
  CHECK(contains("==1.1.*", "1.1+local"));
  CHECK_FALSE(contains("==1.1.*", "1.10"));
  CHECK_FALSE(contains("==0.*", "1!0.1"));
  CHECK(contains("!=1.1.*", "1.2.dev0"));
}

TEST_CASE("the compatible release goes up to the next prefix") {
  CHECK(contains("~=2.2", "2.99"));
  CHECK_FALSE(contains("~=2.2", "3.0a1"));
  CHECK_FALSE(contains("~=2.2", "2.1"));
  CHECK(contains("~=1.4.5a4", "1.4.5"));
  CHECK_FALSE(contains("~=1.4.5a4", "1.5.dev0"));
  CHECK(contains("~=18446744073709551615.0", "18446744073709551615.1"));
}

TEST_CASE("less leaves out the pre-releases of its own version") {
  CHECK_FALSE(contains("<2.0", "2.0rc1"));
  CHECK_FALSE(contains("<2.0", "2.0.dev1"));
  CHECK(contains("<2.0", "1.9rc1"));
  CHECK(contains("<2.0rc2", "2.0rc1"));
  CHECK(contains("<1.0.post1", "1.0a1"));
  CHECK(contains("<1.0.post1", "1.0"));
  CHECK_FALSE(contains("<1.0.post1", "1.0.post1.dev0"));
  CHECK_FALSE(contains("<0.dev0", "0.dev0"));
}

TEST_CASE("greater leaves out post-releases and local versions of its own version") {
  CHECK_FALSE(contains(">1.7", "1.7.post1"));
  CHECK_FALSE(contains(">1.7", "1.7.0.post1.dev3"));
  CHECK(contains(">1.7", "1.7.1"));
  CHECK(contains(">1.7.post1", "1.7.post2"));
  CHECK_FALSE(contains(">1.7.post1", "1.7.post1+local"));
  CHECK(contains(">1.0a1", "1.0"));
  CHECK_FALSE(contains(">1.0a1", "1.0a1.post1"));
}

TEST_CASE("arbitrary equality compares spellings without case") {
  CHECK(contains("===1.0+ABC", "1.0+abc"));
  CHECK_FALSE(contains("===1.0", "1.0.0"));
  CHECK_FALSE(contains("===not-a-version", "1.0"));
}

TEST_CASE("a set holds when all clauses hold, and an empty one always does") {
  CHECK(contains(" >= 1.0 , < 2 , != 1.5 ", "1.4"));
  CHECK_FALSE(contains(">=1.0,<2,!=1.5", "1.5.0"));
  CHECK(contains("", "1.0.dev0"));
  CHECK(contains(">=1,,<2,", "1.5"));
}

TEST_CASE("a named pre-release admits pre-releases, except by an inequality") {
  CHECK(admits(">=1.0a1"));
  CHECK(admits("<2.0.dev0,>=1"));
  CHECK(admits("===1.0rc1"));
  CHECK_FALSE(admits("!=1.0rc1"));
  CHECK_FALSE(admits(">=1.0.post1,==1.*"));
  CHECK_FALSE(admits("===dev"));
  CHECK_FALSE(admits(""));
}

TEST_CASE("specifiers are rendered as written, without white space") {
  CHECK(wheel::render_specifiers(*wheel::parse_specifiers(" >= V1.0-Alpha , ==1.* ,~=2.0")) ==
        ">=V1.0-Alpha,==1.*,~=2.0");
}

TEST_CASE("what is not a specifier is refused with the reason") {
  CHECK(problem("1.0") ==
        "\"1.0\" is not a valid version specifier: it does not start with ==, !=, <=, >=, <, >, ~= "
        "or ===");
  CHECK(problem(">=1.0.*") ==
        "\">=1.0.*\" is not a valid version specifier: \".*\" is only valid with == and !=");
  CHECK(problem("==1.0a1.*") ==
        "\"==1.0a1.*\" is not a valid version specifier: \".*\" cannot follow a "
        "pre-release, post-release, dev or local part");
  CHECK(problem("~=1") ==
        "\"~=1\" is not a valid version specifier: ~= needs at least two release numbers");
  CHECK(problem(">=1.0+local") ==
        "\">=1.0+local\" is not a valid version specifier: a local version is only valid with == "
        "and !=");
  CHECK(problem(">=1,<2x") ==
        "\"<2x\" is not a valid version specifier: unexpected \"x\" at position 2");
  CHECK(problem(">=") ==
        "\">=\" is not a valid version specifier: \"\" is not a valid version: it is incomplete at "
        "position 0");
  CHECK(problem("===a b").starts_with("\"===a b\" is not a valid version specifier: unexpected"));
}
