#include "resolver/choice/ranking.h"

#include <algorithm>
#include <optional>
#include <utility>

#include "resolver/choice/priorities.h"

namespace axle::resolver {
namespace {

using PropertyIterator = wheel::VariantProperties::const_iterator;

/// The values of one feature: neighbours in the sorted set.
struct FeatureRun {
  PropertyIterator begin;
  PropertyIterator end;
};

FeatureRun run_from(PropertyIterator begin, PropertyIterator last) {
  PropertyIterator end = std::next(begin);
  while (end != last && end->feature == begin->feature && end->ns == begin->ns) ++end;
  return {begin, end};
}

/// The best supported value of a run, with its key.
struct BestValue {
  plan::RankKey key;
  PropertyIterator property;
};

std::optional<BestValue> best_value(const Priorities& priorities, std::size_t ns_index,
                                    const FeatureRun& run) {
  if (ns_index == no_position) return std::nullopt;
  const FeatureOrder* order = priorities.feature(ns_index, run.begin->feature);
  if (order == nullptr) return std::nullopt;
  std::size_t best = no_position;
  PropertyIterator property = run.end;
  for (PropertyIterator it = run.begin; it != run.end; ++it) {
    const std::size_t index = order->value_index(it->value);
    if (index >= best) continue;
    best = index;
    property = it;
  }
  if (best == no_position) return std::nullopt;
  return BestValue{{ns_index, order->index, best}, property};
}

std::string reject_reason(const FeatureRun& run) {
  const wheel::Property& first = *run.begin;
  std::string reason = first.ns + " :: " + first.feature;
  if (std::next(run.begin) == run.end) {
    reason += " :: ";
    reason += first.value;
    return reason += " is not supported";
  }
  reason += ": none of ";
  for (PropertyIterator it = run.begin; it != run.end; ++it) {
    if (it != run.begin) reason += ", ";
    reason += it->value;
  }
  return reason += " is supported";
}

/// Either the keys of a compatible variant, or the run that makes it incompatible.
struct Examined {
  std::vector<BestValue> best;
  std::optional<FeatureRun> failed;
};

void examine(const Priorities& priorities, const wheel::VariantProperties& properties,
             Examined& result) {
  result.best.clear();
  result.failed.reset();
  std::size_t failed_ns = no_position;
  std::size_t ns_index = no_position;
  const std::string* ns = nullptr;
  for (PropertyIterator it = properties.begin(); it != properties.end();) {
    const FeatureRun run = run_from(it, properties.end());
    if (ns == nullptr || *ns != it->ns) {
      ns = &it->ns;
      ns_index = priorities.namespace_index(*ns);
    }
    if (auto best = best_value(priorities, ns_index, run)) {
      result.best.push_back(*best);
    } else if (!result.failed || ns_index < failed_ns) {
      result.failed = run;
      failed_ns = ns_index;
    }
    it = run.end;
  }
  std::ranges::sort(result.best, {}, &BestValue::key);
}

struct SortableVariant {
  RankedVariant variant;
  bool is_null = false;
};

bool ranks_before(const SortableVariant& left, const SortableVariant& right) {
  if (left.is_null != right.is_null) return right.is_null;
  const std::vector<plan::RankKey>& a = left.variant.keys;
  const std::vector<plan::RankKey>& b = right.variant.keys;
  const auto [in_a, in_b] = std::ranges::mismatch(a, b);
  if (in_a != a.end() && in_b != b.end()) return *in_a < *in_b;
  if (a.size() != b.size()) return a.size() > b.size();
  return left.variant.label < right.variant.label;
}

}  // namespace

Ranking rank_variants(const wheel::VariantMetadata& metadata,
                      const SupportedProperties& supported) {
  const Priorities priorities(metadata, supported);
  Ranking ranking;
  std::vector<SortableVariant> entries;
  entries.reserve(metadata.variants.size());
  Examined examined;
  for (const auto& [label, properties] : metadata.variants) {
    examine(priorities, properties, examined);
    if (examined.failed) {
      ranking.rejected.push_back({label, *examined.failed->begin, reject_reason(*examined.failed)});
      continue;
    }
    SortableVariant& entry = entries.emplace_back();
    entry.variant.label = label;
    entry.variant.keys.reserve(examined.best.size());
    for (const BestValue& best : examined.best) entry.variant.keys.push_back(best.key);
    entry.is_null = properties.empty() && wheel::is_null_variant(metadata, label);
  }
  std::ranges::sort(entries, ranks_before);
  ranking.ranked.reserve(entries.size());
  for (SortableVariant& entry : entries) ranking.ranked.push_back(std::move(entry.variant));
  return ranking;
}

wheel::VariantProperties supported_properties(const wheel::VariantMetadata& metadata,
                                              std::string_view label,
                                              const SupportedProperties& supported) {
  wheel::VariantProperties result;
  const auto variant = metadata.variants.find(label);
  if (variant == metadata.variants.end()) return result;
  const Priorities priorities(metadata, supported);
  for (const wheel::Property& property : variant->second) {
    const std::size_t ns = priorities.namespace_index(property.ns);
    if (ns == no_position) continue;
    const FeatureOrder* order = priorities.feature(ns, property.feature);
    if (order == nullptr || order->value_index(property.value) == no_position) continue;
    result.insert(property);
  }
  return result;
}

std::vector<wheel::Property> deciding_properties(const wheel::VariantMetadata& metadata,
                                                 std::string_view label,
                                                 const SupportedProperties& supported) {
  std::vector<wheel::Property> result;
  const auto variant = metadata.variants.find(label);
  if (variant == metadata.variants.end()) return result;
  const Priorities priorities(metadata, supported);
  Examined examined;
  examine(priorities, variant->second, examined);
  result.reserve(examined.best.size());
  for (const BestValue& best : examined.best) result.push_back(*best.property);
  return result;
}

}  // namespace axle::resolver
