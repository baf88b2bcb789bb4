#pragma once
// The ordering rule of PEP 825 once more, as literally and as slowly as it reads: the oracle of the
// ranking tests. Shares nothing with resolver/ but the types of its inputs.

#include <string>
#include <vector>

#include "resolver/choice/ranking.h"
#include "wheel/variant/variant_metadata.h"

namespace axle::testing {

struct NaiveRanking {
  std::vector<std::string> ranked;    ///< labels, best first
  std::vector<std::string> rejected;  ///< labels, sorted
};

[[nodiscard]] NaiveRanking naive_ranking(const wheel::VariantMetadata& metadata,
                                         const resolver::SupportedProperties& supported);

}  // namespace axle::testing
