#pragma once
// The interface to environments for Python plugins; session/ implements it with Axle's own
// installer.

#include <expected>
#include <string>
#include <vector>

#include "providers/plugins/plugin.h"

namespace axle::plugins {

struct PluginEnvironment {
  std::string python;                ///< absolute path of its interpreter
  std::vector<std::string> folders;  ///< its own, and those of the installation that it rests on
  std::string version;               ///< of the first requirement's package: "0.2.1"
};

class Environments {
 public:
  virtual ~Environments() = default;
  /// An environment with `requirements` (PEP 508), made of plain wheels only, or an existing one
  /// that was made for them. The failure says why there is none (`not_started`).
  [[nodiscard]] virtual std::expected<PluginEnvironment, PluginFailure> environment_with(
      const std::vector<std::string>& requirements) = 0;
};

}  // namespace axle::plugins
