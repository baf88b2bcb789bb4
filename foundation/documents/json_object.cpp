#include "foundation/documents/json_object.h"

#include <algorithm>
#include <numeric>
#include <unordered_set>

#include <fmt/format.h>

#include "foundation/text/quote.h"

namespace axle::documents {
namespace {

using JsonKind = JsonNode::Kind;

/// Objects with more members are searched through an index.
constexpr std::size_t few_members = 8;

bool is_plain(char c) {
  const auto byte = static_cast<unsigned char>(c);
  return c == '\n' || c == '\t' || (byte >= 0x20 && byte != 0x7F);
}

/// Whether `key` can follow a dot without quotes.
bool is_word(std::string_view key) {
  return !key.empty() && key.size() <= 64 && std::ranges::all_of(key, [](char c) {
    return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_' ||
           c == '-' || c == '$';
  });
}

std::string why_not(std::string_view text, const TextRule& rule) {
  return fmt::format("{} is not a valid {}", text::quote(text), rule.name);
}

}  // namespace

std::string render_place(const JsonPlace& place) {
  if (place.parent == nullptr) return {};
  std::string path = render_place(*place.parent);
  if (place.index != JsonPlace::no_index) return path + fmt::format("[{}]", place.index);
  if (!path.empty()) path += '.';
  return path + (is_word(place.key) ? std::string(place.key) : text::quote(place.key));
}

void JsonReading::refuse(std::string_view place, std::string_view why, std::string hint) {
  if (error_) return;
  error_ = Error{ErrorKind::malformed,
                 place.empty() ? fmt::format("{}: {}", where_, why)
                               : fmt::format("{}: {}: {}", where_, place, why),
                 hint.empty() ? hint_ : std::move(hint)};
}

void JsonReading::refuse(Error error) {
  if (!error_) error_ = std::move(error);
}

JsonObject::JsonObject(const JsonNode& node, const JsonPlace& place, JsonReading& reading)
    : members_(node.kind == JsonKind::object ? std::span(node.items) : std::span<const JsonNode>()),
      place_(place),
      reading_(reading) {
  (void)expect(node, JsonKind::object, place);
}

bool JsonObject::expect(const JsonNode& value, JsonKind kind, const JsonPlace& place) {
  if (value.kind == kind) return true;
  reading_.refuse(render_place(place),
                  fmt::format("{} instead of {}", describe_kind(value.kind), describe_kind(kind)));
  return false;
}

std::string JsonObject::path_of(std::string_view key) const {
  return render_place({.parent = &place_, .key = key});
}

std::optional<std::size_t> JsonObject::index_of(std::string_view key) const {
  const auto key_of = [this](std::size_t index) -> std::string_view { return members_[index].key; };
  if (size() <= few_members) {
    const auto found = std::ranges::find(members_, key, &JsonNode::key);
    if (found == members_.end()) return std::nullopt;
    return static_cast<std::size_t>(found - members_.begin());
  }
  if (by_key_.empty()) {
    by_key_.resize(size());
    std::iota(by_key_.begin(), by_key_.end(), std::size_t{0});
    std::ranges::sort(by_key_, {}, key_of);
  }
  const auto found = std::ranges::lower_bound(by_key_, key, {}, key_of);
  if (found == by_key_.end() || key_of(*found) != key) return std::nullopt;
  return *found;
}

void JsonObject::refuse_object(std::string_view why, std::string hint) {
  reading_.refuse(render_place(place_), why, std::move(hint));
}

void JsonObject::refuse(std::string_view key, std::string_view why, std::string hint) {
  reading_.refuse(path_of(key), why, std::move(hint));
}

void JsonObject::refuse_element(std::string_view key, std::size_t index, std::string_view why,
                                std::string hint) {
  const JsonPlace array{.parent = &place_, .key = key};
  reading_.refuse(render_place({.parent = &array, .index = index}), why, std::move(hint));
}

void JsonObject::require(std::string_view key) {
  if (!has(key)) refuse_object(fmt::format("the key {} is missing", text::quote(key)));
}

const JsonNode* JsonObject::find(std::string_view key) {
  const auto index = index_of(key);
  if (!index) return nullptr;
  asked_.resize(size());
  asked_[*index] = true;
  return &members_[*index];
}

const JsonNode* JsonObject::find(std::string_view key, JsonKind kind) {
  const JsonNode* value = find(key);
  if (value == nullptr || !expect(*value, kind, {.parent = &place_, .key = key})) return nullptr;
  return value;
}

std::string JsonObject::text(std::string_view key) {
  const JsonNode* value = find(key, JsonKind::string);
  if (value == nullptr) return {};
  if (value->text.size() > reading_.bounds().longest_text ||
      !std::ranges::all_of(value->text, is_plain)) {
    refuse(key, "a string that is too long or has control characters");
    return {};
  }
  return value->text;
}

std::string JsonObject::text(std::string_view key, const TextRule& rule) {
  const JsonNode* value = find(key, JsonKind::string);
  if (value == nullptr) return {};
  if (!rule.holds(value->text)) {
    refuse(key, why_not(value->text, rule));
    return {};
  }
  return value->text;
}

std::vector<std::string> JsonObject::list(std::string_view key, const ListRule& rule) {
  std::vector<std::string> texts;
  const JsonNode* value = find(key, JsonKind::array);
  if (value == nullptr) return texts;
  if (value->items.empty() && !rule.may_be_empty) refuse(key, "an empty list");
  const JsonPlace place{.parent = &place_, .key = key};
  std::unordered_set<std::string_view> seen;
  for (std::size_t i = 0; i < value->items.size(); ++i) {
    const JsonNode& item = value->items[i];
    if (!expect(item, JsonKind::string, {.parent = &place, .index = i})) break;
    if (!rule.item.holds(item.text)) {
      refuse_element(key, i, why_not(item.text, rule.item));
      break;
    }
    if (!rule.may_repeat && !seen.insert(item.text).second) {
      refuse_element(key, i, fmt::format("{} is duplicated in the list", text::quote(item.text)));
      break;
    }
    texts.push_back(item.text);
  }
  return texts;
}

std::optional<std::uint64_t> JsonObject::number(std::string_view key, std::uint64_t largest) {
  const JsonNode* value = find(key);
  if (value == nullptr) return std::nullopt;
  if (!value->whole || *value->whole > largest) {
    refuse(key, fmt::format("expected a whole number up to {}", largest));
    return std::nullopt;
  }
  return value->whole;
}

bool JsonObject::flag(std::string_view key) {
  const JsonNode* value = find(key, JsonKind::boolean);
  return value != nullptr && value->boolean;
}

void JsonObject::part(std::string_view key, const std::function<void(JsonObject&)>& read) {
  const JsonNode* value = find(key);
  if (value == nullptr) return;
  JsonObject object(*value, {.parent = &place_, .key = key}, reading_);
  read(object);
  object.finish();
}

void JsonObject::each(std::string_view key, const std::function<void(JsonObject&)>& read) {
  const JsonNode* value = find(key);
  if (value == nullptr) return;
  const std::size_t most = reading_.bounds().most_items;
  if (value->kind != JsonKind::array || value->items.size() > most)
    return refuse(key, fmt::format("expected an array of at most {}", most));
  const JsonPlace place{.parent = &place_, .key = key};
  for (std::size_t i = 0; i < value->items.size() && !reading_.error(); ++i) {
    JsonObject object(value->items[i], {.parent = &place, .index = i}, reading_);
    read(object);
    object.finish();
  }
}

void JsonObject::keys(const std::function<void(const std::string&)>& read) {
  for (std::size_t i = 0; i < size() && !reading_.error(); ++i) read(members_[i].key);
}

void JsonObject::parts(const std::function<void(const std::string&, JsonObject&)>& read) {
  asked_.assign(size(), true);
  for (const JsonNode& value : members_) {
    if (reading_.error()) return;
    JsonObject object(value, {.parent = &place_, .key = value.key}, reading_);
    read(value.key, object);
  }
}

void JsonObject::finish() {
  if (reading_.bounds().unknown_keys) return;
  asked_.resize(size());
  for (std::size_t i = 0; i < size() && !reading_.error(); ++i) {
    if (!asked_[i]) refuse_object(fmt::format("unknown key {}", text::quote(members_[i].key)));
  }
}

}  // namespace axle::documents
