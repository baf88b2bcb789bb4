#include "resolver/family/release_passes.h"

#include <algorithm>

namespace axle::resolver {

std::vector<Pass> passes_over(const Families& families, const PackageDemand& demand,
                              const std::vector<Release*>& releases) {
  const auto of_family = std::ranges::find_if(
      releases, [](const Release* release) { return release->family != nullptr; });
  if (of_family == releases.end()) return {Pass{}};
  // A build that was asked for, by pin or by version, is the one, whatever is known of it.
  const index::Family& family = *(*of_family)->family;
  if (demand.rule == LabelRule::kept ||
      !families.given_label(family, demand.name, demand.wants).empty()) {
    return {Pass{}};
  }
  const bool known = std::ranges::any_of(releases, [&](const Release* release) {
    return index::find_release(family, demand.name, release->version) != nullptr &&
           release->may_be_labelled();
  });
  const auto unknown = known ? UnknownBuilds::where_asked_for : UnknownBuilds::counts;
  std::vector<Pass> passes;
  if (families.has_device_for(family)) {
    passes.push_back({false, UnknownBuilds::never});
    passes.push_back({false, unknown});
  }
  passes.push_back({true, UnknownBuilds::never});
  passes.push_back({true, unknown});
  return passes;
}

}  // namespace axle::resolver
