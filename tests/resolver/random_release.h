#pragma once
// Random releases and supported lists for ranking: several namespaces, multi-valued and unlisted
// features, ties, 0.0.x tables.

#include <cstddef>
#include <random>

#include "resolver/choice/ranking.h"
#include "wheel/variant/variant_metadata.h"

namespace axle::testing {

struct RandomRelease {
  wheel::VariantMetadata metadata;
  resolver::SupportedProperties supported;
};

struct ReleaseShape {
  std::size_t namespaces = 4;
  std::size_t features = 4;
  std::size_t values = 5;
  std::size_t variants = 12;
  bool draft_tables = true;  ///< some documents are 0.0.3 with priority tables
};

[[nodiscard]] RandomRelease random_release(std::mt19937_64& random, const ReleaseShape& shape);

}  // namespace axle::testing
