#pragma once
// `abi_dependency` (PEP 825): supported is what the versions of other packages in
// the same solution say.

#include <vector>

#include "providers/provider.h"
#include "resolver/request/package_demand.h"
#include "wheel/variant/variant_metadata.h"

namespace axle::resolver {

struct AbiLists {
  providers::Features features;  ///< supported values, the most exact first
  std::vector<AbiAssumption> assumptions;
};

/// Asks `version_of` about every package that the document's variants name.
[[nodiscard]] AbiLists abi_lists(const wheel::VariantMetadata& metadata,
                                 const VersionOf& version_of);

}  // namespace axle::resolver
