#include "session/supported_lists.h"

#include <doctest/doctest.h>

using axle::session::parse_supported_lists;

TEST_CASE("lists are read bare and as `properties --json` prints them, in their order") {
  for (
      const char* text :
      {R"({"x86_64": {"zeta": ["b", "a"], "alpha": ["1"]}})",
       R"({"schema_version": 1, "properties": {"x86_64": {"zeta": ["b", "a"], "alpha": ["1"]}}})"}) {
    const auto lists = axle::session::parse_supported_lists(text, "lists.json");
    REQUIRE(lists);
    const auto& features = lists->at("x86_64");
    REQUIRE(features.size() == 2);
    CHECK(features[0].name == "zeta");
    CHECK(features[0].values == std::vector<std::string>{"b", "a"});
    CHECK(features[1].name == "alpha");
  }
}

TEST_CASE("broken lists name the file and the key") {
  const auto message = [](const char* text) {
    const auto lists = axle::session::parse_supported_lists(text, "lists.json");
    REQUIRE_FALSE(lists);
    return lists.error().message;
  };
  CHECK(message("{").find("not JSON") != std::string::npos);
  CHECK(message("[]").find("lists.json") != std::string::npos);
  CHECK(message(R"({"ns": []})").find("ns") != std::string::npos);
  CHECK(message(R"({"ns": {"f": "v"}})").find("ns.f") != std::string::npos);
  CHECK(message(R"({"ns": {"f": [1]}})").find("ns.f") != std::string::npos);
}
