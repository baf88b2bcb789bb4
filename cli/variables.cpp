#include "cli/variables.h"

#include <cstdlib>

namespace axle::cli {

std::string variable(std::string_view name) {
  const char* value = std::getenv(std::string(name).c_str());
  return value == nullptr ? std::string() : std::string(value);
}

std::string config_home() {
  const std::string xdg = variable("XDG_CONFIG_HOME");
  if (!xdg.empty()) return xdg;
  const std::string home = variable("HOME");
  return home.empty() ? std::string() : home + "/.config";
}

}  // namespace axle::cli
