#include "runtime/json_nesting.h"

#include <doctest/doctest.h>

namespace {

using namespace axle::runtime;

TEST_CASE("JSON is nested at most 64 deep, brackets in strings aside") {
  const auto nested = [](std::size_t depth) {
    return std::string(depth, '[') + std::string(depth, ']');
  };
  for (const std::string& text :
       {nested(64), nested(64) + nested(64), "\"" + nested(100) + "\"",
        "\"\\\"" + nested(100) + "\"", "]]]]" + nested(64), std::string("\"\\"), std::string()}) {
    CAPTURE(text);
    CHECK(check_json_nesting(text, "c.json").has_value());
  }
  for (const std::string& text : {nested(65), "\"\"" + nested(65), "\"\\\\\"" + nested(65)}) {
    CAPTURE(text);
    const Result<void> checked = check_json_nesting(text, "c.json");
    REQUIRE_FALSE(checked.has_value());
    CHECK(checked.error().message == "c.json: brackets are nested deeper than 64");
  }
  for (const std::string& text : {std::string("{}\0", 3), std::string("\"\\\0", 3)}) {
    const Result<void> checked = check_json_nesting(text, "c.json");
    REQUIRE_FALSE(checked.has_value());
    CHECK(checked.error().message == "c.json: no valid JSON at byte 3 of it");
  }
}

}  // namespace
