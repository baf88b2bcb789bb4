#include "wheel/version.h"

#include <algorithm>
#include <string>
#include <vector>

#include <doctest/doctest.h>

namespace wheel = axle::wheel;

namespace {

wheel::Version version(std::string_view text) {
  auto parsed = wheel::parse_version(text);
  REQUIRE_MESSAGE(parsed.has_value(), text);
  return *parsed;
}

std::string normalised(std::string_view text) { return wheel::render_version(version(text)); }

}  // namespace

TEST_CASE("every spelling that PEP 440 allows is normalised") {
  CHECK(normalised(" v1.0-ALPHA.1\t") == "1.0a1");
  CHECK(normalised("1.0-1") == "1.0.post1");
  CHECK(normalised("1.0_rev-3") == "1.0.post3");
  CHECK(normalised("1.0preview") == "1.0rc0");
  CHECK(normalised("1.0c2.r4-dev") == "1.0rc2.post4.dev0");
  CHECK(normalised("007!01.002.0") == "7!1.2.0");
  CHECK(normalised("1+Ubuntu-01_2.X") == "1+ubuntu.1.2.x");
  CHECK(normalised("1.0a.") == "1.0a0");
  CHECK(normalised("1.0a--1") == "1.0a0.post1");
  CHECK(normalised("1.0.post-dev_") == "1.0.post0.dev0");
  CHECK(normalised("18446744073709551615") == "18446744073709551615");
}

TEST_CASE("what is not a valid version is refused with the position") {
  for (const char* text :
       {"", "v", "1.", "1..2", "1.0x", "1!", "1!!2", "a1", "1.0+", "1.0+a..b", "1.0.post1.post2",
        "1.0.dev1a1", "1 .0", "vv1", "-1", "1.0-", "1.0+a+b"}) {
    CAPTURE(text);
    const auto parsed = wheel::parse_version(text);
    REQUIRE_FALSE(parsed.has_value());
    CHECK(parsed.error().kind == axle::ErrorKind::malformed);
  }
  CHECK(wheel::parse_version("1.0x").error().message ==
        "\"1.0x\" is not a valid version: unexpected \"x\" at position 3");
  CHECK(wheel::parse_version("1.0+").error().message ==
        "\"1.0+\" is not a valid version: it is incomplete at position 4");
  CHECK(wheel::parse_version("1.18446744073709551616").error().message ==
        "\"1.18446744073709551616\" is not a valid version: a number that does not fit 64 bits at "
        "position 2");
}

TEST_CASE("versions sort as PEP 440 lists them") {
  const std::vector<std::string> ascending = {"1.dev0",
                                              "1.0.dev456",
                                              "1.0a1.dev1",
                                              "1.0a1",
                                              "1.0a2.dev456",
                                              "1.0a12.dev456",
                                              "1.0a12",
                                              "1.0b1.dev456",
                                              "1.0b2",
                                              "1.0b2.post345.dev456",
                                              "1.0b2.post345",
                                              "1.0rc1.dev456",
                                              "1.0rc1",
                                              "1.0",
                                              "1.0+abc.5",
                                              "1.0+abc.7",
                                              "1.0+5",
                                              "1.0+5.0",
                                              "1.0.post456.dev34",
                                              "1.0.post456",
                                              "1.0.15",
                                              "1.1.dev1",
                                              "1!0.1"};
  for (std::size_t i = 0; i < ascending.size(); ++i) {
    for (std::size_t j = 0; j < ascending.size(); ++j) {
      CAPTURE(ascending[i]);
      CAPTURE(ascending[j]);
      CHECK((version(ascending[i]) <=> version(ascending[j])) == (i <=> j));
    }
  }
}

TEST_CASE("trailing zeros count for spelling, not for order") {
  CHECK(version("1.0.0") == version("1"));
  CHECK(version("1.0.0+a") == version("1+A"));
  CHECK(normalised("1.0.0") == "1.0.0");
  CHECK(version("1.0.0.0.1") > version("1"));
}

TEST_CASE("the public version has no local label") {
  CHECK(wheel::render_version(version("1!2a1.post3.dev4+cu128").public_version()) ==
        "1!2a1.post3.dev4");
  CHECK(version("1.0.dev1").is_prerelease());
  CHECK(version("1.0rc1").is_prerelease());
  CHECK_FALSE(version("1.0.post1").is_prerelease());
}
