#include "foundation/documents/json_object.h"

#include <algorithm>

#include <fmt/format.h>

namespace axle::documents {
namespace {

using Kind = JsonNode::Kind;

bool is_plain(char c) {
  const auto byte = static_cast<unsigned char>(c);
  return c == '\n' || c == '\t' || (byte >= 0x20 && byte != 0x7F);
}

/// Whether `key` can stand behind a dot without doubt.
bool is_word(std::string_view key) {
  return !key.empty() && key.size() <= 64 && std::ranges::all_of(key, [](char c) {
    return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
  });
}

}  // namespace

void JsonReading::refuse(std::string_view path, std::string_view why) {
  const std::string at = path.empty() ? std::string() : fmt::format(" at {}", path);
  refuse(Error{ErrorKind::malformed, fmt::format("{}: {}{}", where_, why, at), hint_});
}

void JsonReading::refuse(Error error) {
  if (!error_) error_ = std::move(error);
}

JsonObject::JsonObject(const JsonNode& node, std::string path, JsonReading& reading)
    : path_(std::move(path)), reading_(reading) {
  if (node.kind != Kind::object) {
    reading_.refuse(path_, "expected an object");
    return;
  }
  for (const JsonNode& item : node.items) members_.push_back({&item});
  std::ranges::sort(members_, {},
                    [](const Member& one) { return std::string_view(one.node->key); });
}

std::string JsonObject::path_of(std::string_view key) const {
  if (is_word(key)) return path_.empty() ? std::string(key) : fmt::format("{}.{}", path_, key);
  std::string shown(key.substr(0, 128));
  std::ranges::replace_if(shown, [](char c) { return !is_plain(c); }, '?');
  return fmt::format("{}[\"{}\"]", path_, shown);
}

const JsonObject::Member* JsonObject::member(std::string_view key) const {
  const auto found = std::ranges::lower_bound(
      members_, key, {}, [](const Member& one) { return std::string_view(one.node->key); });
  return found != members_.end() && found->node->key == key ? &*found : nullptr;
}

bool JsonObject::has(std::string_view key) const { return member(key) != nullptr; }

void JsonObject::refuse(std::string_view key, std::string_view why) {
  reading_.refuse(path_of(key), why);
}

const JsonNode* JsonObject::find(std::string_view key) {
  const Member* found = member(key);
  if (found == nullptr) return nullptr;
  members_[static_cast<std::size_t>(found - members_.data())].asked = true;
  return found->node;
}

std::string JsonObject::text(std::string_view key) {
  const JsonNode* value = find(key);
  if (value == nullptr) return {};
  if (value->kind != Kind::string) {
    refuse(key, "expected a string");
    return {};
  }
  if (value->text.size() > reading_.bounds().longest_text ||
      !std::ranges::all_of(value->text, is_plain)) {
    refuse(key, "a string that is too long or has control characters");
    return {};
  }
  return value->text;
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
  const JsonNode* value = find(key);
  if (value == nullptr) return false;
  if (value->kind != Kind::boolean) {
    refuse(key, "expected true or false");
    return false;
  }
  return value->boolean;
}

void JsonObject::part(std::string_view key, const std::function<void(JsonObject&)>& read) {
  const JsonNode* value = find(key);
  if (value == nullptr) return;
  JsonObject object(*value, path_of(key), reading_);
  read(object);
  object.finish();
}

void JsonObject::each(std::string_view key, const std::function<void(JsonObject&)>& read) {
  const JsonNode* value = find(key);
  if (value == nullptr) return;
  const std::size_t most = reading_.bounds().most_items;
  if (value->kind != Kind::array || value->items.size() > most)
    return refuse(key, fmt::format("expected an array of at most {}", most));
  for (std::size_t i = 0; i < value->items.size() && !reading_.error(); ++i) {
    JsonObject object(value->items[i], fmt::format("{}[{}]", path_of(key), i), reading_);
    read(object);
    object.finish();
  }
}

void JsonObject::keys(const std::function<void(const std::string&)>& read) {
  for (std::size_t i = 0; i < members_.size() && !reading_.error(); ++i)
    read(members_[i].node->key);
}

void JsonObject::finish() {
  for (const Member& one : members_) {
    if (!one.asked) refuse(one.node->key, "unknown key");
  }
}

}  // namespace axle::documents
