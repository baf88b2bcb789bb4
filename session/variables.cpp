#include "session/variables.h"

#include <cstdlib>

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

}  // namespace axle::session
