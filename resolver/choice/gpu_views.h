#pragma once
// The ranking on a machine with several unlike GPUs. A namespace has one list, and a list cannot
// say "for each GPU one of these": where all GPUs count, a variant fits if it fits each of them.

#include <map>
#include <string>
#include <vector>

#include "detect/machine.h"
#include "resolver/choice/provider_algorithm.h"
#include "resolver/choice/ranking.h"
#include "wheel/variant/variant_metadata.h"

namespace axle::resolver {

struct ViewedRanking {
  Ranking ranking;
  /// Rejected label -> the view that it does not fit, of those given. Empty without views.
  std::map<std::string, const detect::Machine*, std::less<>> against;
};

/// `views` are providers::device_views of the machine that `lists` were made for. With views the
/// variants are ranked by the lists of the first one, which then take the place of `lists`, and
/// those that do not fit every view are rejected. Without: rank_variants.
[[nodiscard]] ViewedRanking rank_on_views(const wheel::VariantMetadata& metadata,
                                          const std::vector<detect::Machine>& views,
                                          SupportedLists& lists);

}  // namespace axle::resolver
