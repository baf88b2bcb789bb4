#include "resolver/choice/gpu_views.h"

#include <algorithm>
#include <utility>

#include "providers/provider.h"

namespace axle::resolver {
namespace {

/// The lists of one view: those of our own providers are made again, all others stay.
SupportedProperties lists_of(const detect::Machine& view, const SupportedLists& whole) {
  SupportedProperties lists = whole.lists;
  for (const plan::NamespaceOrigin& origin : whole.origins) {
    if (origin.origin != plan::ListOrigin::builtin) continue;
    const providers::Provider* provider = providers::find_provider(origin.ns);
    providers::Features features = provider->supported(view, {});
    lists.erase(origin.ns);
    if (!features.empty()) lists.emplace(origin.ns, std::move(features));
  }
  return lists;
}

}  // namespace

ViewedRanking rank_on_views(const wheel::VariantMetadata& metadata,
                            const std::vector<detect::Machine>& views, SupportedLists& lists) {
  if (views.empty()) return {rank_variants(metadata, lists.lists), {}};
  ViewedRanking viewed;
  SupportedProperties first = lists_of(views.front(), lists);
  viewed.ranking = rank_variants(metadata, first);
  for (const RejectedVariant& rejected : viewed.ranking.rejected)
    viewed.against.emplace(rejected.label, &views.front());
  for (std::size_t i = 1; i < views.size(); ++i) {
    for (RejectedVariant& rejected : rank_variants(metadata, lists_of(views[i], lists)).rejected) {
      if (!viewed.against.emplace(rejected.label, &views[i]).second) continue;
      std::erase_if(viewed.ranking.ranked,
                    [&](const RankedVariant& variant) { return variant.label == rejected.label; });
      viewed.ranking.rejected.push_back(std::move(rejected));
    }
  }
  std::ranges::sort(viewed.ranking.rejected, {}, &RejectedVariant::label);
  lists.lists = std::move(first);
  return viewed;
}

}  // namespace axle::resolver
