#pragma once
// The provider algorithm (PEP 850): where the supported lists of each
// namespace of one document come from.

#include <optional>
#include <set>
#include <string>
#include <vector>

#include "detect/machine.h"
#include "providers/gpu_policy.h"
#include "report/report.h"
#include "resolver/ranking.h"
#include "wheel/marker.h"
#include "wheel/variant_metadata.h"

namespace axle::resolver {

struct ProviderPolicy {
  std::set<std::string, std::less<>> disabled;  ///< namespaces switched off by the user
  std::set<std::string, std::less<>> enabled;   ///< optional providers switched on by the user
  /// Lists that the user gives; used exclusively for their namespaces. nullopt: none are given.
  std::optional<SupportedProperties> user_lists;
  providers::GpuPolicy gpus = {};  ///< which of several GPUs count
};

/// Why a namespace has the list it has: shown by --explain.
enum class ListOrigin : std::uint8_t { disabled, static_list, user_list, builtin, untrusted, none };

struct NamespaceOrigin {
  std::string ns;
  ListOrigin origin = ListOrigin::none;
  std::string detail;  ///< provider and version, or what would have to be trusted
};

struct SupportedLists {
  SupportedProperties lists;
  std::vector<NamespaceOrigin> origins;  ///< in priority order
};

/// `environment` evaluates 0.0.x `enable-if`. An unknown provider makes its namespace empty and is
/// reported with what would have to be trusted.
[[nodiscard]] SupportedLists supported_lists(const wheel::VariantMetadata& metadata,
                                             const detect::Machine& machine,
                                             const ProviderPolicy& policy,
                                             const wheel::MarkerEnvironment& environment,
                                             Report& report);

}  // namespace axle::resolver
