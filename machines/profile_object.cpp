#include "machines/profile_object.h"

#include <algorithm>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "machines/profile_schema.h"

namespace axle::machines {

using detect::Presence;
using Json = nlohmann::json;

namespace {

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

void Reading::refuse(std::string_view path, std::string_view why) {
  if (error_) return;
  const std::string at = path.empty() ? std::string() : fmt::format(" at {}", path);
  error_ = Error{ErrorKind::malformed, fmt::format("{}: {}{}", where_, why, at),
                 "record a profile with `variant detect --profile machine.json`"};
}

void Reading::refuse(Error error) {
  if (!error_) error_ = std::move(error);
}

Object::Object(const Json& json, std::string path, Reading& reading)
    : json_(json), path_(std::move(path)), reading_(reading) {
  if (!json_.is_object()) reading_.refuse(path_, "expected an object");
}

std::string Object::path_of(std::string_view key) const {
  if (is_word(key)) return path_.empty() ? std::string(key) : fmt::format("{}.{}", path_, key);
  std::string shown(key.substr(0, 128));
  std::ranges::replace_if(shown, [](char c) { return !is_plain(c); }, '?');
  return fmt::format("{}[\"{}\"]", path_, shown);
}

bool Object::has(const std::string& key) const { return json_.is_object() && json_.contains(key); }

const Json* Object::find(const std::string& key) {
  known_.insert(key);
  if (!json_.is_object()) return nullptr;
  const auto found = json_.find(key);
  return found == json_.end() ? nullptr : &*found;
}

std::string Object::text(const std::string& key) {
  const Json* value = find(key);
  if (value == nullptr) return {};
  if (!value->is_string()) {
    reading_.refuse(path_of(key), "expected a string");
    return {};
  }
  const auto& text = value->get_ref<const std::string&>();
  if (text.size() > longest_text || !std::ranges::all_of(text, is_plain)) {
    reading_.refuse(path_of(key), "a string that is too long or has control characters");
    return {};
  }
  return text;
}

std::optional<std::uint64_t> Object::number(const std::string& key, std::uint64_t largest) {
  const Json* value = find(key);
  if (value == nullptr) return std::nullopt;
  if (!value->is_number_unsigned() || value->get<std::uint64_t>() > largest) {
    reading_.refuse(path_of(key), fmt::format("expected a whole number up to {}", largest));
    return std::nullopt;
  }
  return value->get<std::uint64_t>();
}

bool Object::flag(const std::string& key) {
  const Json* value = find(key);
  if (value == nullptr) return false;
  if (!value->is_boolean()) {
    reading_.refuse(path_of(key), "expected true or false");
    return false;
  }
  return value->get<bool>();
}

Presence Object::presence(const std::string& key) {
  const std::string word = text(key);
  if (word.empty()) return Presence::unknown;
  for (const Presence presence :
       {Presence::unknown, Presence::absent, Presence::blocked, Presence::present}) {
    if (word == detect::render_presence(presence)) return presence;
  }
  reading_.refuse(path_of(key), "expected present, absent, blocked or unknown");
  return Presence::unknown;
}

void Object::part(const std::string& key, const std::function<void(Object&)>& read) {
  const Json* value = find(key);
  if (value == nullptr) return;
  Object object(*value, path_of(key), reading_);
  read(object);
  object.finish();
}

void Object::each(const std::string& key, const std::function<void(Object&)>& read) {
  const Json* value = find(key);
  if (value == nullptr) return;
  if (!value->is_array() || value->size() > most_items) {
    reading_.refuse(path_of(key), fmt::format("expected an array of at most {}", most_items));
    return;
  }
  for (std::size_t i = 0; i < value->size() && !reading_.error(); ++i) {
    Object object((*value)[i], fmt::format("{}[{}]", path_of(key), i), reading_);
    read(object);
    object.finish();
  }
}

void Object::keys(const std::function<void(const std::string&)>& read) {
  if (!json_.is_object()) return;
  for (const auto& [key, value] : json_.items()) {
    if (reading_.error()) return;
    read(key);
  }
}

void Object::finish() {
  if (!json_.is_object()) return;
  for (const auto& [key, value] : json_.items()) {
    if (!known_.contains(key)) reading_.refuse(path_of(key), "unknown key");
  }
}

}  // namespace axle::machines
