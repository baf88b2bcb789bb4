#pragma once
// Combines several layers: which value applies for a key.

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "session/settings/layer.h"

namespace axle::session {

/// The first layer wins. Remembers the first value that was not valid.
class WeighedLayers {
 public:
  explicit WeighedLayers(const std::vector<SettingsLayer>& layers) : layers_(layers) {}

  [[nodiscard]] const std::vector<SettingsLayer>& each() const { return layers_; }
  /// From all layers, highest precedence first.
  [[nodiscard]] std::vector<Stated> all(std::string_view key) const;
  /// The last value in the first layer that sets `key`.
  [[nodiscard]] std::optional<Stated> one(std::string_view key) const;
  /// Likewise; "" if nothing sets it.
  [[nodiscard]] std::string text(std::string_view key) const;
  [[nodiscard]] std::optional<bool> truth(std::string_view key);

  void refuse(const Stated& stated, std::string_view key, std::string_view why,
              std::string hint = {});
  void refuse(CommandFailure failure);
  /// A usage error; nullopt if all values are valid.
  [[nodiscard]] const std::optional<CommandFailure>& problem() const { return problem_; }

 private:
  const std::vector<SettingsLayer>& layers_;
  std::optional<CommandFailure> problem_;
};

}  // namespace axle::session
