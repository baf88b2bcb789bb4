#pragma once
// Several layers as one: which of them is believed for a key.

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
  /// Of all layers, those that win first.
  [[nodiscard]] std::vector<Stated> all(std::string_view key) const;
  /// The last value of the first layer that says `key`.
  [[nodiscard]] std::optional<Stated> one(std::string_view key) const;
  /// Likewise; "" where nothing says it.
  [[nodiscard]] std::string text(std::string_view key) const;
  [[nodiscard]] std::optional<bool> truth(std::string_view key);

  void refuse(const Stated& stated, std::string_view key, std::string_view why,
              std::string hint = {});
  void refuse(CommandFailure failure);
  /// A usage error; nullopt while all is valid.
  [[nodiscard]] const std::optional<CommandFailure>& problem() const { return problem_; }

 private:
  const std::vector<SettingsLayer>& layers_;
  std::optional<CommandFailure> problem_;
};

}  // namespace axle::session
