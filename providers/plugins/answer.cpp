#include "providers/plugins/answer.h"

#include <algorithm>
#include <set>
#include <utility>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

namespace axle::plugins {
namespace {

using nlohmann::json;
using providers::Feature;
using providers::Features;

constexpr std::size_t max_shown = 400;
constexpr std::size_t max_quoted = 40;
constexpr std::size_t max_reasons = 16;
constexpr const char* protocol = "providers check says what a plugin must answer";

std::unexpected<PluginFailure> malformed(std::string message) {
  return std::unexpected(PluginFailure{PluginFault::malformed, std::move(message), protocol});
}

/// What stands in a sentence of ours must not look like another one.
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

/// Of our Python loader: {"error": {"fault": "raised", "message": "…"}}.
PluginFailure failure_in(const json& error) {
  PluginFailure failure{
      PluginFault::raised, {}, "this is the plugin's own fault: tell its authors"};
  const auto text = [&](const char* key) {
    const auto found = error.find(key);
    return found != error.end() && found->is_string() ? found->get<std::string>() : std::string();
  };
  if (text("fault") == "no_object") {
    failure.fault = PluginFault::no_object;
    failure.mend = "the release's metadata names another plugin-api than the package has";
  } else if (text("fault") == "malformed") {
    failure.fault = PluginFault::malformed;
    failure.mend = protocol;
  }
  failure.message = one_line(text("message"), max_shown);
  if (failure.message.empty()) failure.message = "it failed and gives no reason";
  return failure;
}

std::expected<Feature, PluginFailure> read_feature(const json& row) {
  if (!row.is_object()) return malformed("a feature is no object");
  const auto name = row.find("name");
  const auto multi = row.find("multi_value");
  const auto values = row.find("values");
  if (name == row.end() || !name->is_string()) return malformed("a feature has no name");
  Feature feature{name->get<std::string>(), false, {}};
  if (!is_name(feature.name, false))
    return malformed(fmt::format("{} is no name of a feature", quote(feature.name)));
  if (multi == row.end() || !multi->is_boolean())
    return malformed(fmt::format("multi_value of {} is neither true nor false", feature.name));
  feature.multi_value = multi->get<bool>();
  if (values == row.end() || !values->is_array())
    return malformed(fmt::format("the values of {} are no list", feature.name));
  if (values->empty() || values->size() > max_values)
    return malformed(fmt::format("{} has {} values: 1 to {} are allowed", feature.name,
                                 values->size(), max_values));
  std::set<std::string_view> known;
  for (const json& value : *values) {
    if (!value.is_string()) return malformed(fmt::format("a value of {} is no text", feature.name));
    const auto& text = value.get_ref<const std::string&>();
    if (!is_name(text, true))
      return malformed(fmt::format("{} is no value of {}", quote(text), feature.name));
    if (!known.insert(text).second)
      return malformed(fmt::format("{} has {} twice", feature.name, quote(text)));
    feature.values.push_back(text);
  }
  return feature;
}

std::expected<Features, PluginFailure> read_features(const json& rows) {
  if (!rows.is_array()) return malformed("the features are no list");
  if (rows.size() > max_features)
    return malformed(fmt::format("{} features are more than {}", rows.size(), max_features));
  Features features;
  std::set<std::string> known;
  for (const json& row : rows) {
    auto feature = read_feature(row);
    if (!feature) return std::unexpected(std::move(feature).error());
    if (!known.insert(feature->name).second)
      return malformed(fmt::format("feature {} is there twice", feature->name));
    features.push_back(std::move(*feature));
  }
  return features;
}

std::expected<json, PluginFailure> read_document(std::string_view text) {
  json document = json::parse(text, nullptr, false);
  if (document.is_discarded()) return malformed("the answer is no JSON");
  if (!document.is_object()) return malformed("the answer is no JSON object");
  if (const auto error = document.find("error"); error != document.end())
    return std::unexpected(failure_in(*error));
  return document;
}

std::expected<std::string, PluginFailure> read_namespace(const json& document) {
  const auto named = document.find("namespace");
  if (named == document.end() || !named->is_string())
    return malformed("the answer names no namespace");
  auto name = named->get<std::string>();
  if (!is_name(name, false)) return malformed(fmt::format("{} is no namespace", quote(name)));
  return name;
}

/// Length of the UTF-8 sequence at the front of `text`; 0: none is valid.
std::size_t sequence_length(std::string_view text) {
  const auto byte = [&](std::size_t i) { return static_cast<unsigned char>(text[i]); };
  const unsigned lead = byte(0);
  const std::size_t length = lead < 0x80                   ? 1
                             : lead >= 0xc2 && lead < 0xe0 ? 2
                             : lead >= 0xe0 && lead < 0xf0 ? 3
                             : lead >= 0xf0 && lead < 0xf5 ? 4
                                                           : 0;
  if (length == 0 || length > text.size()) return 0;
  for (std::size_t i = 1; i < length; ++i) {
    if ((byte(i) & 0xc0U) != 0x80) return 0;
  }
  if (length == 2 && lead == 0xc2 && byte(1) < 0xa0) return 0;  // control characters, too
  if (lead == 0xe0 && byte(1) < 0xa0) return 0;
  if (lead == 0xed && byte(1) > 0x9f) return 0;
  // Directions and invisible signs: what is shown must be what is there.
  if (lead == 0xe2 && (byte(1) == 0x80 || byte(1) == 0x81)) return 0;
  if (lead == 0xd8 && byte(1) == 0x9c) return 0;                     // U+061C
  if (lead == 0xef && byte(1) == 0xbb && byte(2) == 0xbf) return 0;  // U+FEFF
  if (lead == 0xef && byte(1) == 0xbf) return 0;                     // U+FFC0 on
  if (lead == 0xf3 && byte(1) == 0xa0) return 0;                     // U+E0000 on: tags
  if (lead == 0xf0 && byte(1) < 0x90) return 0;
  return lead == 0xf4 && byte(1) > 0x8f ? 0 : length;
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
    return std::unexpected(
        PluginFailure{PluginFault::wrong_namespace,
                      fmt::format("it answers for namespace \"{}\", not for {}", *name, ns),
                      "the release's metadata names the wrong plugin, or the plugin lies"});
  }
  const auto features = document->find("features");
  if (features == document->end()) return malformed("the answer has no features");
  return read_features(*features);
}

PluginNotes parse_notes(std::string_view text) {
  PluginNotes notes;
  const json document = json::parse(text, nullptr, false);
  if (!document.is_object()) return notes;
  if (const auto version = document.find("version");
      version != document.end() && version->is_string())
    notes.version = one_line(version->get_ref<const std::string&>(), max_name);
  const auto number = [&](const char* key) -> std::uint64_t {
    const auto found = document.find(key);
    return found != document.end() && found->is_number_unsigned() ? found->get<std::uint64_t>() : 0;
  };
  notes.abi = number("abi");
  notes.threads = number("threads");
  const auto reasons = document.find("reasons");
  if (reasons == document.end() || !reasons->is_array()) return notes;
  for (const json& reason : *reasons) {
    if (notes.reasons.size() == max_reasons) break;
    if (!reason.is_string()) continue;
    notes.reasons.push_back(one_line(reason.get_ref<const std::string&>(), max_shown));
  }
  return notes;
}

std::string printable(std::string_view text, std::size_t most) {
  std::string out;
  while (!text.empty() && out.size() < most) {
    const std::size_t length = sequence_length(text);
    const char c = text.front();
    const bool plain = length > 1 || (length == 1 && (c == '\n' || (c >= ' ' && c != 0x7f)));
    if (plain && out.size() + length > most) break;
    if (plain) {
      out += text.substr(0, length);
    } else {
      out += c == '\t' ? ' ' : '?';
    }
    text.remove_prefix(std::max<std::size_t>(length, 1));
  }
  return out;
}

}  // namespace axle::plugins
