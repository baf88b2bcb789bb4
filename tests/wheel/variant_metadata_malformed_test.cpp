// Documents that break a rule: each is malformed, and the message says where and why.
#include <string>
#include <string_view>

#include <doctest/doctest.h>

#include "wheel/variant/variant_metadata.h"

namespace {

using namespace axle::wheel;

/// A sound 0.2.0 document with parts to be replaced.
struct Parts {
  std::string schema = R"("https://variants-schema.wheelnext.dev/peps/850/v0.2.0.json")";
  std::string priorities = R"({"namespace": ["a", "b"]})";
  std::string provider_a = R"({"requires": ["provider-a"]})";
  std::string provider_b = R"({"static-properties": {"f": ["v1", "v2"]}})";
  std::string variants = R"({"x": {"a": {"g": ["v"]}}, "null": {}})";
  std::string more = "";

  [[nodiscard]] std::string text() const {
    return R"({"$schema": )" + schema + R"(, "default-priorities": )" + priorities +
           R"(, "providers": {"a": )" + provider_a + R"(, "b": )" + provider_b +
           R"(}, "variants": )" + variants + more + "}";
  }
};

void check_malformed(const std::string& text, std::string_view message) {
  CAPTURE(text);
  axle::CollectedReport report;
  const auto metadata = parse_variant_metadata(text, "doc.json", report);
  REQUIRE_FALSE(metadata.has_value());
  CHECK(metadata.error().kind == axle::ErrorKind::malformed);
  CHECK(metadata.error().message == message);
}

}  // namespace

TEST_CASE("the sound document is read") {
  axle::CollectedReport report;
  const auto metadata = parse_variant_metadata(Parts{}.text(), "doc.json", report);
  REQUIRE_MESSAGE(metadata.has_value(), metadata.error().message);
}

TEST_CASE("text that is not JSON object is malformed") {
  const std::string sound = Parts{}.text();
  check_malformed("", "doc.json: is not JSON: invalid or incomplete at byte 1");
  check_malformed(sound.substr(0, 40), "doc.json: is not JSON: invalid or incomplete at byte 41");
  check_malformed(sound + "x", "doc.json: is not JSON: invalid or incomplete at byte " +
                                   std::to_string(sound.size() + 1));
  check_malformed("\xEF\xBB\xBF" + sound, "doc.json: JSON with a byte order mark");
  check_malformed("[]", "doc.json: an array instead of an object");
  check_malformed("null", "doc.json: null instead of an object");
  check_malformed("{\"a\": \"\xFF\"}", "doc.json: is not JSON: invalid or incomplete at byte 8");
}

TEST_CASE("depth, number of values and size of a document are bounded") {
  check_malformed(std::string(100000, '['), "doc.json: nested more than 32 deep");
  std::string many = "[1";
  for (int i = 0; i < 1'000'000; ++i) many += ",1";
  check_malformed(many + "]", "doc.json: more than 1000000 values");
  check_malformed(std::string((16U << 20) + 1, ' '),
                  "doc.json: 16777217 bytes of JSON, more than the 16777216 expected");
}

TEST_CASE("a key that stands twice is malformed at every depth") {
  check_malformed(R"({"a": 1, "b": 2, "a": 3})",
                  "doc.json: the key \"a\" is duplicated in an object");
  check_malformed(Parts{.variants = R"({"x": {"a": {"g": ["v"], "g": ["w"]}}})"}.text(),
                  "doc.json: the key \"g\" is duplicated in an object");
  check_malformed(
      Parts{.variants = R"({"x": {"a": {"g": ["v"]}}, "x": {"a": {"g": ["w"]}}})"}.text(),
      "doc.json: the key \"x\" is duplicated in an object");
  check_malformed(
      Parts{.variants = R"({"x": {"a": {"g": ["v"]}}, "\u0078": {"a": {"g": ["w"]}}})"}.text(),
      "doc.json: the key \"x\" is duplicated in an object");
}

TEST_CASE("the schema must be a URL with a version") {
  check_malformed(R"({"variants": {}})", "doc.json: the key \"$schema\" is missing");
  check_malformed(Parts{.schema = "5"}.text(), "doc.json: $schema: a number instead of a string");
  check_malformed(Parts{.schema = R"("https://example.org/schema")"}.text(),
                  "doc.json: $schema: no version in \"https://example.org/schema\"");
  check_malformed(Parts{.schema = R"("https://example.org/v0.2.json")"}.text(),
                  "doc.json: $schema: no version in \"https://example.org/v0.2.json\"");
}

TEST_CASE("unknown and missing keys are malformed") {
  check_malformed(Parts{.more = R"(, "extra": 1)"}.text(), "doc.json: unknown key \"extra\"");
  check_malformed(Parts{.more = R"(, "static-properties": {})"}.text(),
                  "doc.json: unknown key \"static-properties\"");
  check_malformed(Parts{.priorities = R"({"namespace": ["a", "b"], "feature": {}})"}.text(),
                  "doc.json: default-priorities: unknown key \"feature\"");
  check_malformed(Parts{.priorities = R"({"namespace": ["a", "b"], "property": {}})"}.text(),
                  "doc.json: default-priorities: unknown key \"property\"");
  check_malformed(
      Parts{.provider_a = R"({"requires": ["p"], "enable-if": "os_name == 'x'"})"}.text(),
      "doc.json: providers.a: unknown key \"enable-if\"");
  check_malformed(Parts{.provider_a = R"({"requires": ["p"], "install-time": true})"}.text(),
                  "doc.json: providers.a: unknown key \"install-time\"");
  check_malformed(Parts{.provider_a = R"({"build-requires": ["p"]})"}.text(),
                  "doc.json: providers.a: unknown key \"build-requires\"");
  check_malformed(Parts{.provider_a = R"({"requires": ["p"], "x": 1})"}.text(),
                  "doc.json: providers.a: unknown key \"x\"");
  check_malformed(Parts{.priorities = "{}"}.text(),
                  "doc.json: default-priorities: the key \"namespace\" is missing");
  check_malformed(R"({"$schema": "https://x/v0.2.0.json"})",
                  "doc.json: the key \"default-priorities\" is missing");
  check_malformed(
      R"({"$schema": "https://x/v0.2.0.json", "default-priorities": {"namespace": ["a"]}})",
      "doc.json: the key \"providers\" is missing");
}

TEST_CASE("namespace lists are unique, not empty, and those of the providers") {
  check_malformed(Parts{.priorities = R"({"namespace": []})"}.text(),
                  "doc.json: default-priorities.namespace: an empty list");
  check_malformed(Parts{.priorities = R"({"namespace": ["a", "b", "a"]})"}.text(),
                  "doc.json: default-priorities.namespace[2]: \"a\" is duplicated in the list");
  check_malformed(Parts{.priorities = R"({"namespace": ["a", "B"]})"}.text(),
                  "doc.json: default-priorities.namespace[1]: \"B\" is not a valid namespace");
  check_malformed(Parts{.priorities = R"({"namespace": ["a", 1]})"}.text(),
                  "doc.json: default-priorities.namespace[1]: a number instead of a string");
  check_malformed(Parts{.priorities = R"({"namespace": "a"})"}.text(),
                  "doc.json: default-priorities.namespace: a string instead of an array");
  check_malformed(Parts{.priorities = R"({"namespace": ["a", "b", "c"]})"}.text(),
                  "doc.json: providers: no provider for the namespace \"c\"");
  check_malformed(
      Parts{.priorities = R"({"namespace": ["a"]})"}.text(),
      "doc.json: providers.b: a namespace that default-priorities.namespace does not list");
}

TEST_CASE("a provider is of exactly one kind, with the keys of that kind") {
  const auto provider = [](const char* json) { return Parts{.provider_a = json}.text(); };
  constexpr const char* none =
      "doc.json: providers.a: none of \"requires\", \"static-properties\" and \"builtin\" instead "
      "of exactly one";
  constexpr const char* many =
      "doc.json: providers.a: more than one of \"requires\", \"static-properties\" and \"builtin\" "
      "instead of exactly one";
  check_malformed(provider("{}"), none);
  check_malformed(provider(R"({"optional": true})"), none);
  check_malformed(provider(R"({"requires": ["p"], "static-properties": {"f": ["v"]}})"), many);
  check_malformed(provider(R"({"requires": ["p"], "builtin": "x"})"), many);
  check_malformed(provider(R"({"static-properties": {"f": ["v"]}, "plugin-api": "x"})"),
                  "doc.json: providers.a.plugin-api: is only valid with \"requires\"");
  check_malformed(provider(R"({"requires": ["p"], "feature-order": ["f"]})"),
                  "doc.json: providers.a.feature-order: is only valid with \"static-properties\"");
  check_malformed(provider(R"({"requires": []})"), "doc.json: providers.a.requires: an empty list");
  check_malformed(provider(R"({"requires": ["p", "p"]})"),
                  "doc.json: providers.a.requires[1]: \"p\" is duplicated in the list");
  check_malformed(provider(R"({"requires": ["p"], "optional": "yes"})"),
                  "doc.json: providers.a.optional: a string instead of a boolean");
  check_malformed(
      provider(R"({"requires": ["p"], "plugin-api": "not a module!"})"),
      "doc.json: providers.a.plugin-api: \"not a module!\" is not a valid \"module\" or "
      "\"module:object\"");
  check_malformed(provider(R"({"builtin": ""})"),
                  "doc.json: providers.a.builtin: \"\" is not a valid provider name");
  check_malformed(provider(R"(["p"])"), "doc.json: providers.a: an array instead of an object");
}

TEST_CASE("a requirement of a plugin must be one") {
  axle::CollectedReport report;
  const auto metadata = parse_variant_metadata(
      Parts{.provider_a = R"({"requires": ["good>=1", "not a requirement"]})"}.text(), "doc.json",
      report);
  REQUIRE_FALSE(metadata.has_value());
  CHECK(metadata.error().kind == axle::ErrorKind::malformed);
  CHECK_MESSAGE(metadata.error().message.starts_with("doc.json: providers.a.requires[1]: "),
                metadata.error().message);
}

TEST_CASE("static lists are not empty, unique and in a complete order") {
  const auto provider = [](const char* json) { return Parts{.provider_b = json}.text(); };
  check_malformed(provider(R"({"static-properties": {}})"),
                  "doc.json: providers.b.static-properties: it has no feature");
  check_malformed(provider(R"({"static-properties": {"f": []}})"),
                  "doc.json: providers.b.static-properties.f: an empty list");
  check_malformed(provider(R"({"static-properties": {"f": ["v", "v"]}})"),
                  "doc.json: providers.b.static-properties.f[1]: \"v\" is duplicated in the list");
  check_malformed(provider(R"({"static-properties": {"f": ["v"], "g": ["v"]}})"),
                  "doc.json: providers.b: \"feature-order\" is missing");
  check_malformed(
      provider(R"({"static-properties": {"f": ["v"], "g": ["v"]}, "feature-order": ["g"]})"),
      "doc.json: providers.b.feature-order: the feature \"f\" is not in it");
  check_malformed(provider(R"({"static-properties": {"f": ["v"]}, "feature-order": ["f", "h"]})"),
                  "doc.json: providers.b.feature-order: \"h\" is not a static feature");
  check_malformed(
      provider(R"({"static-properties": {"f": ["V"]}})"),
      "doc.json: providers.b.static-properties.f[0]: \"V\" is not a valid property value");
  check_malformed(provider(R"({"static-properties": {"f.g": ["v"]}})"),
                  "doc.json: providers.b.static-properties: \"f.g\" is not a valid feature name");
}

TEST_CASE("labels and properties of variants keep to their alphabets and their declarations") {
  const auto variants = [](const char* json) { return Parts{.variants = json}.text(); };
  check_malformed(variants(R"({"null": {"a": {"f": ["v"]}}})"),
                  "doc.json: variants.null: the null variant has properties");
  check_malformed(variants(R"({"x": {}})"),
                  "doc.json: variants.x: no properties: only \"null\" may have none");
  check_malformed(variants(R"({"x": {"a": {}}})"), "doc.json: variants.x.a: it has no feature");
  check_malformed(
      variants(R"({"x": {"c": {"f": ["v"]}}})"),
      "doc.json: variants.x.c: a namespace that default-priorities.namespace does not list");
  check_malformed(variants(R"({"x": {"a": {"f": []}}})"),
                  "doc.json: variants.x.a.f: an empty list");
  check_malformed(variants(R"({"x": {"a": {"f": ["v", "v"]}}})"),
                  "doc.json: variants.x.a.f[1]: \"v\" is duplicated in the list");
  check_malformed(variants(R"({"x": {"a": {"f": "v"}}})"),
                  "doc.json: variants.x.a.f: a string instead of an array");
  check_malformed(variants(R"({"X": {"a": {"f": ["v"]}}})"),
                  "doc.json: variants: \"X\" is not a valid variant label");
  check_malformed(variants(R"({"": {"a": {"f": ["v"]}}})"),
                  "doc.json: variants: \"\" is not a valid variant label");
  check_malformed(variants(R"({"a-b": {"a": {"f": ["v"]}}})"),
                  "doc.json: variants: \"a-b\" is not a valid variant label");
  check_malformed(variants(R"({"x": {"A": {"f": ["v"]}}})"),
                  "doc.json: variants.x: \"A\" is not a valid namespace");
  check_malformed(variants(R"({"x": {"a": {"F": ["v"]}}})"),
                  "doc.json: variants.x.a: \"F\" is not a valid feature name");
  check_malformed(variants(R"({"x.y": {"a": {"f": ["v w"]}}})"),
                  "doc.json: variants.\"x.y\".a.f[0]: \"v w\" is not a valid property value");
  check_malformed(variants(R"({"x": null})"), "doc.json: variants.x: null instead of an object");
}

TEST_CASE("0.0.x documents have rules of their own") {
  const auto draft = [](const std::string& provider, const std::string& more = "") {
    return R"({"$schema": "https://x/v0.0.3.json", "default-priorities": {"namespace": ["a"]},
      "providers": {"a": )" +
           provider + R"(}, "variants": {})" + more + "}";
  };
  check_malformed(draft("{}"), "doc.json: providers.a: the key \"requires\" is missing");
  check_malformed(draft(R"({"requires": []})"), "doc.json: providers.a.requires: an empty list");
  check_malformed(
      draft(R"({"plugin-use": "never"})"),
      "doc.json: providers.a.plugin-use: \"never\" is not a valid use of a plugin (all, build, "
      "none)");
  check_malformed(draft(R"({"plugin-use": "none", "install-time": false})"),
                  "doc.json: providers.a: both \"plugin-use\" and \"install-time\"");
  check_malformed(draft(R"({"static-properties": {"f": ["v"]}})"),
                  "doc.json: providers.a: unknown key \"static-properties\"");
  check_malformed(
      draft(R"({"requires": ["p"]})", R"(, "static-properties": {"a": {"f": ["v"]}})"),
      "doc.json: static-properties.a: static lists for a provider that runs at install time");
  check_malformed(draft(R"({"requires": ["p"]})", R"(, "static-properties": {"b": {"f": ["v"]}})"),
                  "doc.json: static-properties.b: no provider has this name");
}

TEST_CASE("hostile sizes do not take hostile time") {
  // 60,000 static features in reverse order, 60,000 labels: linear searches would take minutes.
  std::string features;
  std::string order;
  std::string variants;
  for (int i = 0; i < 60000; ++i) {
    const std::string name = "f" + std::to_string(i);
    features += (i == 0 ? "\"" : ",\"") + name + R"(":["v"])";
    order = "\"" + name + "\"" + (i == 0 ? "" : ",") + order;
    variants += (i == 0 ? "\"" : ",\"") + name + R"(":{"a":{"g":["v"]}})";
  }
  axle::CollectedReport report;
  const auto metadata =
      parse_variant_metadata(Parts{.provider_b = R"({"static-properties":{)" + features +
                                                 R"(},"feature-order":[)" + order + "]}",
                                   .variants = "{" + variants + "}"}
                                 .text(),
                             "doc.json", report);
  REQUIRE_MESSAGE(metadata.has_value(), metadata.error().message);
  CHECK(metadata->providers.at("b").static_properties->front().feature == "f59999");
  CHECK(metadata->variants.size() == 60000);
}
