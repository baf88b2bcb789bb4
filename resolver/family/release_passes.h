#pragma once
// A package's releases are looked through more than once where a family has builds that count only
// when no others fit.

#include <cstdint>
#include <vector>

#include "resolver/catalogue/release.h"
#include "resolver/family/families.h"
#include "resolver/request/package_demand.h"

namespace axle::resolver {

/// Builds of a family whose needs are not fully known.
enum class UnknownBuilds : std::uint8_t { never, where_asked_for, counts };

/// What of the releases counts in one pass over them.
struct Pass {
  bool fallback = true;  ///< a family's fallback labels
  UnknownBuilds unknown = UnknownBuilds::counts;
};

[[nodiscard]] std::vector<Pass> passes_over(const Families& families, const PackageDemand& demand,
                                            const std::vector<Release*>& releases);

}  // namespace axle::resolver
