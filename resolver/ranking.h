#pragma once
// Compatibility and ranking of the variants of one release (PEP 825 "Variant ordering";
// wheel-variants.md §3 and §4). Pure: metadata and supported lists in, an order out.

#include <cstddef>
#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "providers/provider.h"
#include "wheel/variant_metadata.h"

namespace axle::resolver {

/// Supported features by namespace, best first.
using SupportedProperties = std::map<std::string, providers::Features, std::less<>>;

/// One feature of a variant at its best supported value; lower is better.
struct RankKey {
  std::size_t ns = 0;       ///< index in the namespace priorities
  std::size_t feature = 0;  ///< index in the provider's order (0.0.x tables first)
  std::size_t value = 0;
  friend auto operator<=>(const RankKey&, const RankKey&) = default;
};

struct RankedVariant {
  std::string label;
  std::vector<RankKey> keys;           ///< ascending
  wheel::VariantProperties supported;  ///< those of its properties that the target supports
};

struct RejectedVariant {
  std::string label;
  /// The first feature none of whose values is supported, at its listed values: one property when
  /// it lists one, else the first of them.
  wheel::Property property;
  std::string reason;  ///< "none of 90_real, 100_real is supported", completed with the machine's
                       ///< fact by the caller
};

struct Ranking {
  std::vector<RankedVariant> ranked;      ///< best first, null last
  std::vector<RejectedVariant> rejected;  ///< in label order
};

/// All variants of `metadata`. Labels are the metadata's own; the null variant of 0.0.x documents
/// keeps its label there ("00000000") and still sorts last.
[[nodiscard]] Ranking rank_variants(const wheel::VariantMetadata& metadata,
                                    const SupportedProperties& supported);

}  // namespace axle::resolver
