#include "session/variables.h"

#include <charconv>
#include <cstdlib>

#include <fmt/core.h>
#include <unistd.h>

namespace axle::session {

std::string variable(std::string_view name) {
  const char* value = std::getenv(std::string(name).c_str());
  return value == nullptr ? std::string() : std::string(value);
}

std::optional<std::string> variable_if_set(std::string_view name) {
  const char* value = std::getenv(std::string(name).c_str());
  return value == nullptr ? std::nullopt : std::optional<std::string>(value);
}

std::map<std::string, std::string> variables_with_prefix(std::string_view prefix) {
  std::map<std::string, std::string> found;
  for (char** entry = environ; entry != nullptr && *entry != nullptr; ++entry) {
    const std::string_view text(*entry);
    const std::size_t equals = text.find('=');
    if (equals == std::string_view::npos || !text.starts_with(prefix)) continue;
    found.emplace(text.substr(0, equals), text.substr(equals + 1));
  }
  return found;
}

std::string config_home() {
  const std::string xdg = variable("XDG_CONFIG_HOME");
  if (!xdg.empty()) return xdg;
  const std::string home = variable("HOME");
  return home.empty() ? std::string() : home + "/.config";
}

std::string home_expanded(std::string path) {
  if (path != "~" && !path.starts_with("~/")) return path;
  std::string home = variable("HOME");
  return home.empty() ? path : home + path.substr(1);
}

Outcome<std::optional<std::uint64_t>> source_date_epoch() {
  const std::string text = variable("SOURCE_DATE_EPOCH");
  if (text.empty()) return std::nullopt;
  std::uint64_t seconds = 0;
  const auto parsed = std::from_chars(text.data(), text.data() + text.size(), seconds);
  if (parsed.ec == std::errc() && parsed.ptr == text.data() + text.size()) return seconds;
  return misused(fmt::format("SOURCE_DATE_EPOCH is `{}`, not a number of seconds", text));
}

}  // namespace axle::session
