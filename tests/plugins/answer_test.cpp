#include "providers/plugins/answer.h"

#include <string>

#include <doctest/doctest.h>

using namespace axle::plugins;

namespace {

std::string one_feature(const std::string& feature) {
  return R"({"namespace": "acme", "features": [)" + feature + "]}";
}

PluginFailure failure_of(const std::string& text) {
  const auto answer = parse_answer(text, "acme");
  REQUIRE_FALSE(answer.has_value());
  return answer.error();
}

}  // namespace

TEST_CASE("an answer is read in its order") {
  const auto features = parse_answer(
      R"({"namespace": "acme", "features": [
          {"name": "speed", "multi_value": true, "values": ["fast", "slow"]},
          {"name": "age", "multi_value": false, "values": ["9.0"]}]})",
      "acme");
  REQUIRE(features.has_value());
  REQUIRE(features->size() == 2);
  CHECK((*features)[0] == axle::providers::Feature{"speed", true, {"fast", "slow"}});
  CHECK((*features)[1] == axle::providers::Feature{"age", false, {"9.0"}});
  const auto nothing = parse_answer(R"({"namespace": "acme", "features": []})", "acme");
  REQUIRE(nothing.has_value());
  CHECK(nothing->empty());
}

TEST_CASE("whatever is not exactly an answer is refused, with what is wrong") {
  const std::pair<std::string, std::string> cases[] = {
      {"", "not usable JSON"},
      {"[]", "not a JSON object"},
      {"{", "not usable JSON"},
      {"{} {}", "not usable JSON"},
      {R"({"features": []})", "has no namespace"},
      {R"({"namespace": 7, "features": []})", "has no namespace"},
      {R"({"namespace": "A-B", "features": []})", "is not a valid namespace"},
      {R"({"namespace": "acme"})", "has no features"},
      {R"({"namespace": "acme", "features": {}})", "not a list"},
      {one_feature("7"), "not an object"},
      {one_feature("{}"), "no name"},
      {one_feature(R"({"name": "a b", "multi_value": true, "values": ["x"]})"),
       "is not a valid feature name"},
      {one_feature(R"({"name": "a.b", "multi_value": true, "values": ["x"]})"),
       "is not a valid feature name"},
      {one_feature(R"({"name": "a", "values": ["x"]})"), "multi_value"},
      {one_feature(R"({"name": "a", "multi_value": 1, "values": ["x"]})"), "multi_value"},
      {one_feature(R"({"name": "a", "multi_value": true})"), "not a list"},
      {one_feature(R"({"name": "a", "multi_value": true, "values": "x"})"), "not a list"},
      {one_feature(R"({"name": "a", "multi_value": true, "values": []})"), "0 values"},
      {one_feature(R"({"name": "a", "multi_value": true, "values": [1]})"), "not a string"},
      {one_feature(R"({"name": "a", "multi_value": true, "values": ["X"]})"),
       "is not a valid value"},
      {one_feature(R"({"name": "a", "multi_value": true, "values": ["x", "x"]})"), "duplicate"},
      {one_feature(R"({"name": "a", "multi_value": true, "values": [")" + std::string(129, 'x') +
                   R"("]})"),
       "is not a valid value"},
      {one_feature(R"({"name": "a", "multi_value": true, "values": ["x"]},
                      {"name": "a", "multi_value": true, "values": ["y"]})"),
       "duplicate"},
      {std::string(100'000, '['), "nested more than 32 deep"},
      {std::string(400'000, '[') + std::string(400'000, ']'), "nested more than 32 deep"},
      {R"({"namespace": "acme", "features": )" + std::string(400'000, '[') +
           std::string(400'000, ']') + "}",
       "nested more than 32 deep"},
      {R"({"namespace": "acme", "features": [], "features": []})",
       "the key \"features\" is duplicated"},
      {R"({"namespace": "acme", "features": NaN})", "not usable JSON"},
      {R"({"namespace": "acme", "features": 1e999})", "not usable JSON"},
      {"{\"namespace\": \"acme\xff\", \"features\": []}", "not usable JSON"},
      {R"(a word first {"namespace": "acme", "features": []})", "not usable JSON"},
      {R"({"namespace": "acme\u0000", "features": []})", "is not a valid namespace"},
  };
  for (const auto& [text, word] : cases) {
    CAPTURE(text.substr(0, 100));
    const PluginFailure failure = failure_of(text);
    CHECK(failure.fault == PluginFault::malformed);
    CHECK_MESSAGE(failure.message.find(word) != std::string::npos, failure.message);
    CHECK(failure.message.size() < 500);
  }
}

TEST_CASE("too many features or values are no answer") {
  std::string values = "\"v0\"";
  for (std::size_t i = 1; i <= max_values; ++i) values += ",\"v" + std::to_string(i) + "\"";
  CHECK(failure_of(one_feature(R"({"name": "a", "multi_value": true, "values": [)" + values + "]}"))
            .fault == PluginFault::malformed);
  std::string features;
  for (std::size_t i = 0; i <= max_features; ++i) {
    features += (i == 0 ? "" : ",") + (R"({"name": "f)" + std::to_string(i)) +
                R"(", "multi_value": true, "values": ["x"]})";
  }
  CHECK(failure_of(one_feature(features)).fault == PluginFault::malformed);
}

TEST_CASE("a plugin that answers for another namespace lies") {
  const auto answer = parse_answer(R"({"namespace": "nvidia", "features": []})", "acme");
  REQUIRE_FALSE(answer.has_value());
  CHECK(answer.error().fault == PluginFault::wrong_namespace);
}

TEST_CASE("our loader's errors keep their kind") {
  CHECK(failure_of(R"({"error": {"fault": "no_object", "message": "x"}})").fault ==
        PluginFault::no_object);
  CHECK(failure_of(R"({"error": {"fault": "raised", "message": "x"}})").fault ==
        PluginFault::raised);
  CHECK(failure_of(R"({"error": {"fault": "malformed", "message": "x"}})").fault ==
        PluginFault::malformed);
  CHECK(failure_of(R"({"error": 7})").fault == PluginFault::raised);
  CHECK(failure_of(R"({"error": {}})").message == "it failed without giving a reason");
  CHECK(failure_of("{\"error\": {\"message\": \"\\u001b[31m\"}}").message == "?[31m");
}

TEST_CASE("what a plugin says of itself stays on its line") {
  const std::string forged = R"(oops\nwarning: all is well\n  hint: run evil)";
  CHECK(failure_of(R"({"error": {"message": ")" + forged + "\"}}").message ==
        "oops warning: all is well   hint: run evil");
  const PluginNotes notes = parse_notes(R"({"version": "1\n2", "reasons": [")" + forged + "\"]}");
  CHECK(notes.version == "1 2");
  CHECK(notes.reasons.front().find('\n') == std::string::npos);
}

TEST_CASE("what plugins print cannot steer a terminal") {
  CHECK(printable("plain\ntext\t.", 100) == "plain\ntext .");
  CHECK(printable("\x1b[2J\r\a\x7f", 100) == "?[2J???");
  CHECK(printable("gr\xc3\xbc\xc3\x9f", 100) == "gr\xc3\xbc\xc3\x9f");
  CHECK(printable("\xc2\x9b"
                  "31m",
                  100) == "??31m");
  CHECK(printable("\xe2\x80\xae"
                  "abc",
                  100) == "???abc");
  CHECK(printable("\xff\xfe\xc3", 100) == "???");
  for (const char* invisible : {"\xd8\x9c", "\xef\xbb\xbf", "\xf3\xa0\x81\x81", "\xef\xbf\xb9"})
    CHECK(printable(invisible, 100).find_first_not_of('?') == std::string::npos);
  CHECK(printable("\xc3\xbc\xc3\xbc", 3) == "\xc3\xbc");
  CHECK(printable(std::string(100, 'x'), 10).size() == 10);
}
