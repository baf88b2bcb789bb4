#include "cli/variables.h"

#include <cstdlib>

namespace axle::cli {

std::string variable(std::string_view name) {
  const char* value = std::getenv(std::string(name).c_str());
  return value == nullptr ? std::string() : std::string(value);
}

}  // namespace axle::cli
