#include "wheel/variant/document_reader.h"

#include <algorithm>
#include <unordered_set>

#include <fmt/format.h>

#include "foundation/text/quote.h"
#include "wheel/variant/variant_schema.h"

namespace axle::wheel {

std::string render_place(const Place& place) {
  if (place.parent == nullptr) return "";
  std::string path = render_place(*place.parent);
  if (place.key.empty()) return path + fmt::format("[{}]", place.index);
  if (!path.empty()) path += '.';
  const bool plain = std::ranges::all_of(place.key, [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '_' || c == '-' || c == '$';
  });
  return path + (plain ? std::string(place.key) : text::quote(place.key));
}

bool is_plain_text(std::string_view text) {
  return !text.empty() &&
         std::ranges::all_of(text, [](char c) { return static_cast<unsigned char>(c) >= 0x20; });
}

bool DocumentReader::complain(const Place& place, std::string_view problem, std::string hint) {
  const std::string path = render_place(place);
  error_.message = path.empty() ? fmt::format("{}: {}", where_, problem)
                                : fmt::format("{}: {}: {}", where_, path, problem);
  error_.hint = std::move(hint);
  return false;
}

void DocumentReader::note(const Place& place, std::string_view remark) {
  report_.note(fmt::format("{}: {}: {}", where_, render_place(place), remark));
}

bool DocumentReader::expect(const documents::JsonNode& node, documents::JsonNode::Kind kind,
                            const Place& place) {
  if (node.kind == kind) return true;
  return complain(place, fmt::format("{} instead of {}", documents::describe_kind(node.kind),
                                     documents::describe_kind(kind)));
}

const documents::JsonNode* DocumentReader::require(const documents::JsonNode& object,
                                                   std::string_view key,
                                                   documents::JsonNode::Kind kind,
                                                   const Place& place) {
  const documents::JsonNode* node = object.find(key);
  if (node == nullptr) {
    complain(place, fmt::format("the key {} is missing", text::quote(key)));
    return nullptr;
  }
  return expect(*node, kind, {&place, key}) ? node : nullptr;
}

bool DocumentReader::check_keys(const documents::JsonNode& object, Keys known, bool tolerant,
                                const Place& place) {
  for (const documents::JsonNode& member : object.items) {
    const std::string& key = member.key;
    if (std::ranges::find(known, key) != known.end()) continue;
    if (!tolerant) {
      return complain(place, fmt::format("unknown key {}", text::quote(key)),
                      fmt::format("known keys: {}", fmt::join(known, ", ")));
    }
    note({&place, key}, "the unknown key is ignored");
  }
  return true;
}

bool DocumentReader::check_namespace(std::string_view ns, const Place& place) {
  return is_property_name(ns) ||
         complain(place, fmt::format("{} is not a valid namespace", text::quote(ns)));
}

bool DocumentReader::read_flag(const documents::JsonNode& table, std::string_view key,
                               const Place& place, bool& flag) {
  const documents::JsonNode* node = table.find(key);
  if (node == nullptr) return true;
  if (!expect(*node, documents::JsonNode::Kind::boolean, {&place, key})) return false;
  flag = node->boolean;
  return true;
}

bool DocumentReader::read_text(const documents::JsonNode& table, std::string_view key,
                               const Place& place, Check check, std::string_view what,
                               std::string& text) {
  const documents::JsonNode* node = table.find(key);
  if (node == nullptr) return true;
  const Place at{&place, key};
  if (!expect(*node, documents::JsonNode::Kind::string, at)) return false;
  if (!check(node->text)) {
    return complain(at, fmt::format("{} is not a valid {}", text::quote(node->text), what));
  }
  text = node->text;
  return true;
}

bool DocumentReader::read_list(const documents::JsonNode& node, const Place& place, Check check,
                               std::string_view what, bool may_be_empty,
                               std::vector<std::string>& list) {
  if (!expect(node, documents::JsonNode::Kind::array, place)) return false;
  if (node.items.empty() && !may_be_empty) return complain(place, "an empty list");
  std::unordered_set<std::string_view> seen;
  for (std::size_t i = 0; i < node.items.size(); ++i) {
    const Place item{&place, {}, i};
    if (!expect(node.items[i], documents::JsonNode::Kind::string, item)) return false;
    const std::string& text = node.items[i].text;
    if (!check(text))
      return complain(item, fmt::format("{} is not a valid {}", text::quote(text), what));
    if (!seen.insert(text).second) {
      return complain(item, fmt::format("{} is duplicated in the list", text::quote(text)));
    }
    list.push_back(text);
  }
  return true;
}

bool DocumentReader::read_features(const documents::JsonNode& node, const Place& place,
                                   bool may_be_empty, std::vector<FeatureValues>& features) {
  if (!expect(node, documents::JsonNode::Kind::object, place)) return false;
  if (node.items.empty() && !may_be_empty) return complain(place, "it has no feature");
  for (const documents::JsonNode& values : node.items) {
    const std::string& feature = values.key;
    const Place at{&place, feature};
    if (!is_property_name(feature)) {
      return complain(place, fmt::format("{} is not a valid feature name", text::quote(feature)));
    }
    FeatureValues& entry = features.emplace_back(feature, std::vector<std::string>{});
    if (!read_list(values, at, is_property_value, "property value", may_be_empty, entry.values)) {
      return false;
    }
  }
  return true;
}

}  // namespace axle::wheel
