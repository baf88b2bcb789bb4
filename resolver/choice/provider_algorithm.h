#pragma once
// The provider algorithm (PEP 850): where the supported lists of each
// namespace of one document come from.

#include <vector>

#include "detect/machine.h"
#include "foundation/report/report.h"
#include "plan/decision.h"
#include "resolver/request/provider_policy.h"
#include "wheel/marker.h"
#include "wheel/variant/variant_metadata.h"

namespace axle::resolver {

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
