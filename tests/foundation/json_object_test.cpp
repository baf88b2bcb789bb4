// The strict reader of JSON: each complaint has the file and the place, the first one counts.
#include "foundation/documents/json_object.h"

#include <doctest/doctest.h>

using namespace axle::documents;
using axle::ErrorKind;

namespace {

/// The complaint about `json` when `read` reads its object; "" when there is none.
std::string complaint(std::string_view json, const std::function<void(JsonObject&)>& read) {
  const auto root = parse_json_tree(json, "x.json");
  if (!root) return root.error().message;
  JsonReading reading("x.json", "write it anew", {.longest_text = 8, .most_items = 2});
  JsonObject object(*root, "", reading);
  read(object);
  object.finish();
  if (!reading.error()) return "";
  CHECK(reading.error()->kind == ErrorKind::malformed);
  CHECK(reading.error()->hint == "write it anew");
  return reading.error()->message;
}

}  // namespace

TEST_CASE("keys of an object are asked for, each with its type") {
  const auto read = [](JsonObject& object) {
    CHECK(object.text("name") == "demo");
    CHECK(object.number("count", 10) == 7U);
    CHECK(object.flag("on"));
    CHECK(object.text("absent").empty());
    CHECK_FALSE(object.number("absent", 10).has_value());
    CHECK_FALSE(object.flag("absent"));
    CHECK(object.has("name"));
    CHECK_FALSE(object.has("absent"));
    CHECK(object.size() == 3);
  };
  CHECK(complaint(R"({"name": "demo", "count": 7, "on": true})", read).empty());
}

TEST_CASE("what is wrong is told with its place, and what nobody asked for is refused") {
  const auto text = [](JsonObject& object) { (void)object.text("a"); };
  const auto number = [](JsonObject& object) { (void)object.number("a", 10); };
  const auto flag = [](JsonObject& object) { (void)object.flag("a"); };
  CHECK(complaint("[]", text) == "x.json: expected an object");
  CHECK(complaint(R"({"a": 1})", text) == "x.json: expected a string at a");
  const std::string unfit = "x.json: a string that is too long or has control characters at a";
  CHECK(complaint(R"({"a": "123456789"})", text) == unfit);
  CHECK(complaint(R"({"a": "\u001b"})", text) == unfit);
  CHECK(complaint(R"({"a": "b", "c": 1})", text) == "x.json: unknown key at c");
  CHECK(complaint(R"({"a": "b", "c d": 1})", text) == R"(x.json: unknown key at ["c d"])");
  CHECK(complaint(R"({"a": "b", "a": 1})", text) ==
        R"(x.json: the key "a" is duplicated in an object)");
  for (const char* wrong : {"11", "-1", "1.5", "\"1\"", "null", "18446744073709551616"}) {
    CAPTURE(wrong);
    CHECK(complaint(std::string(R"({"a": )") + wrong + "}", number) ==
          "x.json: expected a whole number up to 10 at a");
  }
  CHECK(complaint(R"({"a": 1})", flag) == "x.json: expected true or false at a");
}

TEST_CASE("objects inside of objects and of arrays have paths") {
  const auto read = [](JsonObject& object) {
    object.part("one", [](JsonObject& part) { (void)part.text("name"); });
    object.each("many", [](JsonObject& item) { (void)item.text("name"); });
  };
  CHECK(complaint(R"({"one": {"name": "a"}, "many": [{}, {"name": "b"}]})", read).empty());
  CHECK(complaint(R"({"one": {"name": 1}})", read) == "x.json: expected a string at one.name");
  CHECK(complaint(R"({"one": []})", read) == "x.json: expected an object at one");
  CHECK(complaint(R"({"many": [{}, {"no": 1}]})", read) == "x.json: unknown key at many[1].no");
  CHECK(complaint(R"({"many": [{}, {}, {}]})", read) ==
        "x.json: expected an array of at most 2 at many");
  CHECK(complaint(R"({"many": {}})", read) == "x.json: expected an array of at most 2 at many");
}

TEST_CASE("keys come in the order of their bytes, and asking for them is left to the caller") {
  std::string order;
  const auto read = [&](JsonObject& object) {
    object.keys([&](const std::string& key) {
      order += key;
      if (key != "b") (void)object.find(key);
    });
  };
  CHECK(complaint(R"({"c": 1, "a": 2, "b": 3})", read) == "x.json: unknown key at b");
  CHECK(order == "abc");
}
