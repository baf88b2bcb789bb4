#pragma once
// `abi_dependency` (PEP 825): supported is what the versions of other packages in
// the same solution say.

#include <string>
#include <vector>

#include "providers/provider.h"
#include "resolver/request/package_demand.h"
#include "wheel/specifier.h"
#include "wheel/variant/variant_metadata.h"

namespace axle::resolver {

struct AbiLists {
  providers::Features features;  ///< supported values, the most exact first
  std::vector<AbiAssumption> assumptions;
};

/// Asks `version_of` about every package that the document's variants name. Empty: each package
/// may have any version, the newest first.
[[nodiscard]] AbiLists abi_lists(const wheel::VariantMetadata& metadata,
                                 const VersionOf& version_of);

/// What a variant, or an installed package, needs of another package.
struct AbiNeed {
  std::string package;                      ///< normalised
  std::vector<wheel::SpecifierSet> any_of;  ///< one of them must hold
  std::string text;                         ///< for people: "torch 2.9 or 2.10"
};
[[nodiscard]] std::vector<AbiNeed> abi_needs(const wheel::VariantProperties& properties);

}  // namespace axle::resolver
