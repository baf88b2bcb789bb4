#pragma once
// The provider algorithm (PEP 850): where the supported lists of each
// namespace of one document come from.

#include <optional>
#include <set>
#include <span>
#include <string>
#include <vector>

#include "detect/machine.h"
#include "foundation/report/report.h"
#include "plan/decision.h"
#include "providers/gpu_policy.h"
#include "resolver/choice/ranking.h"
#include "wheel/marker.h"
#include "wheel/variant/variant_metadata.h"

namespace axle::resolver {

/// A namespace whose lists a plugin would give, as the metadata names it.
struct PluginRequest {
  std::string ns;
  std::vector<std::string> requires_;  ///< PEP 508, those whose markers hold; may be empty
  std::string plugin_api;              ///< as written, else derived from the first requirement
  std::string not_ours;  ///< why the provider that Axle carries is not the one; empty: it has none
};

struct PluginLists {
  plan::ListOrigin origin = plan::ListOrigin::untrusted;  ///< plugin, untrusted, failed or none
  std::string detail;  ///< which plugin; else why there is nothing
  providers::Features features;
};

/// The seam to plugins, which cli/ fills. Nothing is asked twice in one run.
class PluginHost {
 public:
  virtual ~PluginHost() = default;
  /// One answer a request, in order. All trusted plugins are asked at once. What a person must know
  /// (untrusted: with the command that would trust it; failed: why) is reported once a run.
  [[nodiscard]] virtual std::vector<PluginLists> ask(std::span<const PluginRequest> requests,
                                                     Report& report) = 0;
};

struct ProviderPolicy {
  std::set<std::string, std::less<>> disabled;  ///< namespaces switched off by the user
  std::set<std::string, std::less<>> enabled;   ///< optional providers switched on by the user
  /// Lists that the user gives; used exclusively for their namespaces. nullopt: none are given.
  std::optional<SupportedProperties> user_lists;
  providers::GpuPolicy gpus = {};  ///< which of several GPUs count
  PluginHost* plugins = nullptr;   ///< nullptr: no plugin is run
};

struct SupportedLists {
  SupportedProperties lists;
  std::vector<plan::NamespaceOrigin> origins;  ///< in priority order
};

/// `environment` evaluates 0.0.x `enable-if` and the markers of `requires`. Plugins are only asked
/// for namespaces that some variant uses; one that is untrusted or fails makes its namespace empty,
/// is reported, and stops nothing.
[[nodiscard]] SupportedLists supported_lists(const wheel::VariantMetadata& metadata,
                                             const detect::Machine& machine,
                                             const ProviderPolicy& policy,
                                             const wheel::MarkerEnvironment& environment,
                                             Report& report);

/// `given`, and of the namespaces that it does not name those lists that the document itself
/// carries. No provider and no plugin is asked.
[[nodiscard]] SupportedProperties beside_own_lists(const wheel::VariantMetadata& metadata,
                                                   const ProviderPolicy& policy,
                                                   const wheel::MarkerEnvironment& environment,
                                                   SupportedProperties given);

}  // namespace axle::resolver
