#include "providers/plugins/answer.h"

#include <algorithm>
#include <set>
#include <utility>

#include <fmt/format.h>

#include "foundation/documents/json_tree.h"
#include "foundation/text/printable.h"
#include "foundation/text/utf8.h"

namespace axle::plugins {
namespace {

using documents::JsonNode;
using providers::Feature;
using providers::Features;

constexpr std::size_t max_shown = 400;
constexpr std::size_t max_quoted = 40;
constexpr std::size_t max_reasons = 16;
constexpr const char* protocol = "`providers check` shows what a plugin must answer";

std::unexpected<PluginFailure> malformed(std::string message) {
  return std::unexpected(PluginFailure{PluginFault::malformed, std::move(message), protocol});
}

/// Text within our sentences must not look like another sentence.
std::string one_line(std::string_view text, std::size_t most) {
  std::string shown = printable(text, most);
  std::ranges::replace(shown, '\n', ' ');
  return shown;
}

std::string quote(std::string_view text) { return '"' + one_line(text, max_quoted) + '"'; }

bool is_name(std::string_view text, bool dots) {
  return !text.empty() && text.size() <= max_name && std::ranges::all_of(text, [&](char c) {
    return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '_' || (dots && c == '.');
  });
}

/// The member `key` of that kind, or nullptr.
const JsonNode* find(const JsonNode& object, std::string_view key, JsonNode::Kind kind) {
  const JsonNode* node = object.find(key);
  return node != nullptr && node->kind == kind ? node : nullptr;
}

/// From our Python loader: {"error": {"fault": "raised", "message": "…"}}.
PluginFailure failure_in(const JsonNode& error) {
  PluginFailure failure{
      PluginFault::raised, {}, "this is a fault of the plugin: report it to its authors"};
  const auto text = [&](const char* key) {
    const JsonNode* found = find(error, key, JsonNode::Kind::string);
    return found != nullptr ? found->text : std::string();
  };
  if (text("fault") == "no_object") {
    failure.fault = PluginFault::no_object;
    failure.hint = "the release's metadata names a plugin-api that the package does not have";
  } else if (text("fault") == "malformed") {
    failure.fault = PluginFault::malformed;
    failure.hint = protocol;
  }
  failure.message = one_line(text("message"), max_shown);
  if (failure.message.empty()) failure.message = "it failed without giving a reason";
  return failure;
}

std::expected<Feature, PluginFailure> read_feature(const JsonNode& row) {
  if (row.kind != JsonNode::Kind::object) return malformed("a feature is not an object");
  const JsonNode* name = find(row, "name", JsonNode::Kind::string);
  const JsonNode* multi = find(row, "multi_value", JsonNode::Kind::boolean);
  const JsonNode* values = find(row, "values", JsonNode::Kind::array);
  if (name == nullptr) return malformed("a feature has no name");
  Feature feature{name->text, false, {}};
  if (!is_name(feature.name, false))
    return malformed(fmt::format("{} is not a valid feature name", quote(feature.name)));
  if (multi == nullptr)
    return malformed(fmt::format("multi_value of {} is neither true nor false", feature.name));
  feature.multi_value = multi->boolean;
  if (values == nullptr)
    return malformed(fmt::format("the values of {} are not a list", feature.name));
  if (values->items.empty() || values->items.size() > max_values)
    return malformed(fmt::format("{} has {} values: 1 to {} are allowed", feature.name,
                                 values->items.size(), max_values));
  std::set<std::string_view> known;
  for (const JsonNode& value : values->items) {
    if (value.kind != JsonNode::Kind::string)
      return malformed(fmt::format("a value of {} is not a string", feature.name));
    const std::string& text = value.text;
    if (!is_name(text, true))
      return malformed(fmt::format("{} is not a valid value of {}", quote(text), feature.name));
    if (!known.insert(text).second)
      return malformed(fmt::format("{} has the duplicate value {}", feature.name, quote(text)));
    feature.values.push_back(text);
  }
  return feature;
}

std::expected<Features, PluginFailure> read_features(const JsonNode& rows) {
  if (rows.kind != JsonNode::Kind::array) return malformed("the features are not a list");
  if (rows.items.size() > max_features)
    return malformed(
        fmt::format("{} features exceed the limit of {}", rows.items.size(), max_features));
  Features features;
  std::set<std::string> known;
  for (const JsonNode& row : rows.items) {
    auto feature = read_feature(row);
    if (!feature) return std::unexpected(std::move(feature).error());
    if (!known.insert(feature->name).second)
      return malformed(fmt::format("duplicate feature {}", feature->name));
    features.push_back(std::move(*feature));
  }
  return features;
}

/// Also rejects duplicate keys, deep nesting and endless lists.
Result<JsonNode> read_json(std::string_view text) {
  constexpr std::size_t most = 2 * max_features * max_values;
  return documents::parse_json_tree(text, "its text", {.values = most});
}

std::expected<JsonNode, PluginFailure> read_document(std::string_view text) {
  auto document = read_json(text);
  if (!document)
    return malformed(fmt::format("the answer is not usable JSON: {}", document.error().message));
  if (document->kind != JsonNode::Kind::object) return malformed("the answer is not a JSON object");
  if (const JsonNode* error = document->find("error"); error != nullptr)
    return std::unexpected(failure_in(*error));
  return std::move(*document);
}

std::expected<std::string, PluginFailure> read_namespace(const JsonNode& document) {
  const JsonNode* named = find(document, "namespace", JsonNode::Kind::string);
  if (named == nullptr) return malformed("the answer has no namespace");
  if (!is_name(named->text, false))
    return malformed(fmt::format("{} is not a valid namespace", quote(named->text)));
  return named->text;
}

}  // namespace

std::expected<std::string, PluginFailure> parse_namespace(std::string_view text) {
  auto document = read_document(text);
  if (!document) return std::unexpected(std::move(document).error());
  return read_namespace(*document);
}

std::expected<Features, PluginFailure> parse_answer(std::string_view text, std::string_view ns) {
  const auto document = read_document(text);
  if (!document) return std::unexpected(document.error());
  const auto name = read_namespace(*document);
  if (!name) return std::unexpected(name.error());
  if (*name != ns) {
    return std::unexpected(PluginFailure{
        PluginFault::wrong_namespace,
        fmt::format("it answers for namespace \"{}\", not for {}", *name, ns),
        "the release's metadata names the wrong plugin, or the plugin's answer is wrong"});
  }
  const JsonNode* features = document->find("features");
  if (features == nullptr) return malformed("the answer has no features");
  return read_features(*features);
}

PluginNotes parse_notes(std::string_view text) {
  PluginNotes notes;
  const auto document = read_json(text);
  if (!document) return notes;
  if (const JsonNode* version = find(*document, "version", JsonNode::Kind::string))
    notes.version = one_line(version->text, max_name);
  const auto number = [&](std::string_view key) -> std::uint64_t {
    const JsonNode* found = document->find(key);
    return found != nullptr ? found->whole.value_or(0) : 0;
  };
  notes.abi = number("abi");
  notes.threads = number("threads");
  const JsonNode* reasons = find(*document, "reasons", JsonNode::Kind::array);
  if (reasons == nullptr) return notes;
  for (const JsonNode& reason : reasons->items) {
    if (notes.reasons.size() == max_reasons) break;
    if (reason.kind != JsonNode::Kind::string) continue;
    notes.reasons.push_back(one_line(reason.text, max_shown));
  }
  return notes;
}

std::string printable(std::string_view text, std::size_t most) {
  std::string out;
  while (!text.empty() && out.size() < most) {
    const axle::text::CodePoint point = axle::text::first_code_point(text);
    const bool plain = point.length > 0 && point.code != '\t' && !axle::text::is_hidden(point.code);
    if (plain && out.size() + point.length > most) break;
    if (plain) {
      out += text.substr(0, point.length);
    } else {
      out += text.front() == '\t' ? ' ' : '?';
    }
    text.remove_prefix(plain ? point.length : 1);
  }
  return out;
}

}  // namespace axle::plugins
