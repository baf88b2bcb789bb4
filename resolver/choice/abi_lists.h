#pragma once
// Namespaces of `abi_dependency`: supported is what the versions of other packages in the same
// solution say.

#include <map>
#include <string>
#include <vector>

#include "foundation/report/report.h"
#include "providers/provider.h"
#include "resolver/choice/ranking.h"
#include "resolver/request/package_demand.h"
#include "resolver/request/provider_policy.h"
#include "wheel/variant/variant_metadata.h"

namespace axle::resolver {

struct AbiLists {
  SupportedProperties lists;  ///< supported values of such namespaces, the most exact first
  std::vector<AbiAssumption> assumptions;
};

/// Asks `version_of` about every package that the document's variants name. Empty: each package
/// may have any version, the newest first. What `policy` disables supports nothing.
[[nodiscard]] AbiLists abi_lists(const wheel::VariantMetadata& metadata,
                                 const ProviderPolicy& policy, const VersionOf& version_of);

/// Says which labels have properties of such namespaces that no version can meet.
void warn_of_abi_defects(const wheel::VariantMetadata& metadata, const std::string& package,
                         Report& report);

/// The namespace is switched off: by the user, or it is an optional builtin that nobody enabled.
[[nodiscard]] bool is_abi_disabled(const wheel::VariantMetadata& metadata,
                                   const ProviderPolicy& policy, const std::string& ns);

}  // namespace axle::resolver
