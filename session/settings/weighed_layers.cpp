#include "session/settings/weighed_layers.h"

#include <fmt/core.h>

#include "session/settings/truth.h"

namespace axle::session {

std::vector<Stated> WeighedLayers::all(std::string_view key) const {
  std::vector<Stated> values;
  for (const SettingsLayer& layer : layers_) {
    const auto found = layer.values.find(key);
    if (found != layer.values.end())
      values.insert(values.end(), found->second.begin(), found->second.end());
  }
  return values;
}

std::optional<Stated> WeighedLayers::one(std::string_view key) const {
  for (const SettingsLayer& layer : layers_) {
    const auto found = layer.values.find(key);
    if (found != layer.values.end() && !found->second.empty()) return found->second.back();
  }
  return std::nullopt;
}

std::string WeighedLayers::text(std::string_view key) const {
  const auto stated = one(key);
  return stated ? stated->value : std::string();
}

std::optional<bool> WeighedLayers::truth(std::string_view key) {
  const auto stated = one(key);
  if (!stated) return std::nullopt;
  const auto value = truth_of(stated->value);
  if (!value) refuse(*stated, key, "is neither true nor false");
  return value;
}

void WeighedLayers::refuse(const Stated& stated, std::string_view key, std::string_view why,
                           std::string hint) {
  refuse(
      misused(fmt::format("{}: {} `{}` {}", stated.origin, key, stated.value, why), std::move(hint))
          .error());
}

void WeighedLayers::refuse(CommandFailure failure) {
  if (!problem_) problem_ = std::move(failure);
}

}  // namespace axle::session
