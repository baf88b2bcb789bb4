#pragma once
// Compatibility and ranking of the variants of one release (PEP 825 "Variant ordering"). Pure:
// metadata and supported lists in, an order out.

#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "plan/decision.h"
#include "resolver/request/supported_properties.h"
#include "wheel/variant/variant_metadata.h"

namespace axle::resolver {

struct RankedVariant {
  std::string label;
  std::vector<plan::RankKey> keys;  ///< ascending
};

struct RejectedVariant {
  std::string label;
  /// Of the features none of whose values is supported the one in the most important namespace; the
  /// first of its values in sorted order.
  wheel::Property property;
  std::string reason;  ///< "nvidia :: sm_arch: none of 100_real, 90_real is supported"
};

struct Ranking {
  std::vector<RankedVariant> ranked;      ///< best first, null last
  std::vector<RejectedVariant> rejected;  ///< in label order
};

/// All variants of `metadata`. Labels are the metadata's own; the null variant of 0.0.x documents
/// keeps its label there ("00000000") and still sorts last. wheel::abi_dependency counts after all
/// other namespaces unless the document gives it a place; any other namespace without a place is
/// unsupported.
[[nodiscard]] Ranking rank_variants(const wheel::VariantMetadata& metadata,
                                    const SupportedProperties& supported);

/// Those properties of `label` that the target supports: what the variant markers see. Empty
/// for an unknown label.
[[nodiscard]] wheel::VariantProperties supported_properties(const wheel::VariantMetadata& metadata,
                                                            std::string_view label,
                                                            const SupportedProperties& supported);

/// The best supported property of each feature of `label`, in the order of its rank keys.
[[nodiscard]] std::vector<wheel::Property> deciding_properties(
    const wheel::VariantMetadata& metadata, std::string_view label,
    const SupportedProperties& supported);

}  // namespace axle::resolver
