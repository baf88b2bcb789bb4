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
  JsonObject object(*root, reading);
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
  CHECK(complaint("[]", text) == "x.json: an array instead of an object");
  CHECK(complaint(R"({"a": 1})", text) == "x.json: a: a number instead of a string");
  const std::string unfit = "x.json: a: a string that is too long or has control characters";
  CHECK(complaint(R"({"a": "123456789"})", text) == unfit);
  CHECK(complaint(R"({"a": "\u001b"})", text) == unfit);
  CHECK(complaint(R"({"a": "b", "c": 1})", text) == R"(x.json: unknown key "c")");
  CHECK(complaint(R"({"a": "b", "c d": 1})", text) == R"(x.json: unknown key "c d")");
  CHECK(complaint(R"({"a": "b", "a": 1})", text) ==
        R"(x.json: the key "a" is duplicated in an object)");
  for (const char* wrong : {"11", "-1", "1.5", "\"1\"", "null", "18446744073709551616"}) {
    CAPTURE(wrong);
    CHECK(complaint(std::string(R"({"a": )") + wrong + "}", number) ==
          "x.json: a: expected a whole number up to 10");
  }
  CHECK(complaint(R"({"a": 1})", flag) == "x.json: a: a number instead of a boolean");
}

TEST_CASE("objects inside of objects and of arrays have paths") {
  const auto read = [](JsonObject& object) {
    object.part("one", [](JsonObject& part) { (void)part.text("name"); });
    object.each("many", [](JsonObject& item) { (void)item.text("name"); });
  };
  CHECK(complaint(R"({"one": {"name": "a"}, "many": [{}, {"name": "b"}]})", read).empty());
  CHECK(complaint(R"({"one": {"name": 1}})", read) ==
        "x.json: one.name: a number instead of a string");
  CHECK(complaint(R"({"one": []})", read) == "x.json: one: an array instead of an object");
  CHECK(complaint(R"({"many": [{}, {"no": 1}]})", read) == R"(x.json: many[1]: unknown key "no")");
  CHECK(complaint(R"({"many": [{}, {}, {}]})", read) ==
        "x.json: many: expected an array of at most 2");
  CHECK(complaint(R"({"many": {}})", read) == "x.json: many: expected an array of at most 2");
}

TEST_CASE("keys come in the order of their bytes, and asking for them is left to the caller") {
  std::string order;
  const auto read = [&](JsonObject& object) {
    object.keys([&](const std::string& key) {
      order += key;
      if (key != "b") (void)object.find(key);
    });
  };
  CHECK(complaint(R"({"c": 1, "a": 2, "b": 3})", read) == R"(x.json: unknown key "b")");
  CHECK(order == "cab");
}

TEST_CASE("members are read in the order of the document, however many there are") {
  std::string json;
  std::string expected;
  for (int i = 40; i > 0; --i) {
    json += (json.empty() ? "{\"k" : ", \"k") + std::to_string(i) + R"(": {"n": "v"})";
    expected += "k" + std::to_string(i) + " ";
  }
  std::string order;
  const auto read = [&](JsonObject& object) {
    CHECK(object.has("k40"));
    CHECK(object.has("k1"));
    CHECK_FALSE(object.has("k41"));
    object.parts([&](const std::string& key, JsonObject& part) {
      order += key + " ";
      CHECK(part.path() == key);
      CHECK(part.text("n") == "v");
    });
  };
  CHECK(complaint(json + "}", read).empty());
  CHECK(order == expected);
  CHECK(complaint(R"({"a": {"n": "v"}, "b": []})", [](JsonObject& object) {
          object.parts([](const std::string&, JsonObject&) {});
        }) == "x.json: b: an array instead of an object");
}

TEST_CASE("texts and lists keep to a rule") {
  const TextRule lower{[](std::string_view text) { return !text.empty() && text[0] >= 'a'; },
                       "small word"};
  const auto list = [&](JsonObject& object) { (void)object.list("l", {.item = lower}); };
  const auto any = [&](JsonObject& object) {
    CHECK(object.list("l", {.item = any_text, .may_be_empty = true, .may_repeat = true}).size() <
          3);
  };
  CHECK(complaint(R"({"l": ["b", "a"]})", list).empty());
  CHECK(complaint("{}", list).empty());
  CHECK(complaint(R"({"l": []})", list) == "x.json: l: an empty list");
  CHECK(complaint(R"({"l": "b"})", list) == "x.json: l: a string instead of an array");
  CHECK(complaint(R"({"l": ["b", 1]})", list) == "x.json: l[1]: a number instead of a string");
  CHECK(complaint(R"({"l": ["b", "B"]})", list) ==
        R"(x.json: l[1]: "B" is not a valid small word)");
  CHECK(complaint(R"({"l": ["b", "b"]})", list) ==
        R"(x.json: l[1]: "b" is duplicated in the list)");
  CHECK(complaint(R"({"l": ["b", "b"]})", any).empty());
  CHECK(complaint(R"({"l": []})", any).empty());
  const auto text = [&](JsonObject& object) { CHECK(object.text("t", lower) != "B"); };
  CHECK(complaint(R"({"t": "longer than the bound"})", text).empty());
  CHECK(complaint(R"({"t": "B"})", text) == R"(x.json: t: "B" is not a valid small word)");
}

TEST_CASE("places and hints of complaints") {
  const auto root = parse_json_tree(R"({"a b": [{"c": [1]}]})", "x.json");
  REQUIRE(root);
  JsonReading reading("x.json", "write it anew");
  JsonObject object(*root, reading);
  object.each("a b", [](JsonObject& one) {
    one.refuse_element("c", 7, "too many", "remove it");
    one.refuse_object("never heard of");
  });
  REQUIRE(reading.error());
  CHECK(reading.error()->message == R"(x.json: "a b"[0].c[7]: too many)");
  CHECK(reading.error()->hint == "remove it");
  JsonReading other("x.json", "write it anew");
  JsonObject again(*root, other);
  again.require("a b");
  CHECK_FALSE(other.error());
  again.require("b");
  REQUIRE(other.error());
  CHECK(other.error()->message == R"(x.json: the key "b" is missing)");
}
