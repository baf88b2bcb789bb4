#include "wheel/variant/variant_schema.h"

#include <algorithm>
#include <charconv>
#include <system_error>

#include <fmt/format.h>

namespace axle::wheel {
namespace {

constexpr std::string_view unversioned_url = "https://variants-schema.wheelnext.dev/";

/// Takes digits from the front of `text`; false when there are none or too many.
bool take_number(std::string_view& text, unsigned& number) {
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc()) return false;
  text.remove_prefix(static_cast<std::size_t>(end - text.data()));
  return true;
}

bool take_dot(std::string_view& text) {
  if (!text.starts_with('.')) return false;
  text.remove_prefix(1);
  return true;
}

bool is_name_character(char c) {
  return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '_';
}

}  // namespace

std::optional<SchemaVersion> parse_schema_version(std::string_view text) {
  SchemaVersion version;
  const bool read = take_number(text, version.major) && take_dot(text) &&
                    take_number(text, version.minor) && take_dot(text) &&
                    take_number(text, version.patch) && text.empty();
  return read ? std::optional(version) : std::nullopt;
}

std::optional<SchemaVersion> schema_version_of(std::string_view url) {
  if (url == unversioned_url) return oldest_schema;
  const std::size_t slash = url.rfind('/');
  if (slash == std::string_view::npos) return std::nullopt;
  std::string_view file = url.substr(slash + 1);
  constexpr std::string_view ending = ".json";
  if (!file.starts_with('v') || !file.ends_with(ending)) return std::nullopt;
  file.remove_prefix(1);
  file.remove_suffix(ending.size());
  return parse_schema_version(file);
}

std::string render_schema_version(const SchemaVersion& version) {
  return fmt::format("{}.{}.{}", version.major, version.minor, version.patch);
}

bool is_property_name(std::string_view text) {
  return !text.empty() && std::ranges::all_of(text, is_name_character);
}

bool is_property_value(std::string_view text) {
  return !text.empty() &&
         std::ranges::all_of(text, [](char c) { return is_name_character(c) || c == '.'; });
}

}  // namespace axle::wheel
