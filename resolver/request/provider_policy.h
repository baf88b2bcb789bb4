#pragma once
// Whom the resolver asks which properties are supported, and of which GPUs.

#include <optional>
#include <set>
#include <string>

#include "providers/gpu_policy.h"
#include "resolver/request/plugin_host.h"
#include "resolver/request/supported_properties.h"

namespace axle::resolver {

struct ProviderPolicy {
  std::set<std::string, std::less<>> disabled;  ///< namespaces switched off by the user
  std::set<std::string, std::less<>> enabled;   ///< optional providers switched on by the user
  /// Lists that the user gives; used exclusively for their namespaces. nullopt: none are given.
  std::optional<SupportedProperties> user_lists;
  providers::GpuPolicy gpus = {};  ///< which of several GPUs count
  PluginHost* plugins = nullptr;   ///< nullptr: no plugin is run
};

}  // namespace axle::resolver
