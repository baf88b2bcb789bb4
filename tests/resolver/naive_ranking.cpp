#include "tests/resolver/naive_ranking.h"

#include <algorithm>
#include <array>
#include <limits>
#include <map>
#include <optional>
#include <utility>

namespace axle::testing {
namespace {

using Names = std::vector<std::string>;
using Slots = std::vector<std::array<std::size_t, 3>>;

/// "0.0.x: its priority tables come first, then the provider's order", each name once.
Names in_order(const Names& table, const Names& provider) {
  Names result;
  for (const Names* names : {&table, &provider}) {
    for (const std::string& name : *names) {
      if (std::ranges::count(result, name) == 0) result.push_back(name);
    }
  }
  return result;
}

std::size_t place(const Names& names, const std::string& name) {
  return static_cast<std::size_t>(std::ranges::find(names, name) - names.begin());
}

std::optional<Names> supported_values(const resolver::SupportedProperties& supported,
                                      const std::string& ns, const std::string& feature) {
  if (!supported.contains(ns)) return std::nullopt;
  for (const providers::Feature& candidate : supported.at(ns)) {
    if (candidate.name == feature) return candidate.values;
  }
  return std::nullopt;
}

Names feature_order(const wheel::VariantMetadata& metadata,
                    const resolver::SupportedProperties& supported, const std::string& ns) {
  Names table;
  if (metadata.feature_priorities.contains(ns)) table = metadata.feature_priorities.at(ns);
  Names provider;
  for (const providers::Feature& feature : supported.at(ns)) provider.push_back(feature.name);
  return in_order(table, provider);
}

Names value_order(const wheel::VariantMetadata& metadata, const Names& provider,
                  const std::string& ns, const std::string& feature) {
  Names table;
  if (metadata.property_priorities.contains(ns)) {
    for (const wheel::FeatureValues& entry : metadata.property_priorities.at(ns)) {
      if (entry.feature == feature) {
        table = entry.values;
        break;
      }
    }
  }
  return in_order(table, provider);
}

/// The keys of one variant, ascending; nullopt when it is incompatible.
std::optional<Slots> keys_of(const wheel::VariantMetadata& metadata,
                             const resolver::SupportedProperties& supported,
                             const wheel::VariantProperties& properties) {
  std::map<std::pair<std::string, std::string>, Names> by_feature;
  for (const wheel::Property& p : properties) by_feature[{p.ns, p.feature}].push_back(p.value);
  Slots slots;
  for (const auto& [name, values] : by_feature) {
    const auto& [ns, feature] = name;
    const auto listed = supported_values(supported, ns, feature);
    if (!listed || std::ranges::count(metadata.namespaces, ns) == 0) return std::nullopt;
    const Names order = value_order(metadata, *listed, ns, feature);
    std::size_t best = std::numeric_limits<std::size_t>::max();
    for (const std::string& value : values) {
      if (std::ranges::count(*listed, value) > 0) best = std::min(best, place(order, value));
    }
    if (best == std::numeric_limits<std::size_t>::max()) return std::nullopt;
    slots.push_back({place(metadata.namespaces, ns),
                     place(feature_order(metadata, supported, ns), feature), best});
  }
  std::ranges::sort(slots);
  return slots;
}

}  // namespace

NaiveRanking naive_ranking(const wheel::VariantMetadata& metadata,
                           const resolver::SupportedProperties& supported) {
  // "If one list is a prefix of the other, the longer wins": a key behind all keys ends every list.
  constexpr std::size_t most = std::numeric_limits<std::size_t>::max();
  struct Row {
    bool null;
    Slots slots;
    std::string label;
  };
  std::vector<Row> rows;
  NaiveRanking result;
  for (const auto& [label, properties] : metadata.variants) {
    auto slots = keys_of(metadata, supported, properties);
    if (!slots) {
      result.rejected.push_back(label);
      continue;
    }
    slots->push_back({most, most, most});
    const bool draft = metadata.schema_version.starts_with("0.0.");
    rows.push_back({label == "null" || (draft && properties.empty()), *slots, label});
  }
  while (!rows.empty()) {
    const auto best = std::ranges::min_element(rows, [](const Row& a, const Row& b) {
      return std::tie(a.null, a.slots, a.label) < std::tie(b.null, b.slots, b.label);
    });
    result.ranked.push_back(best->label);
    rows.erase(best);
  }
  return result;
}

}  // namespace axle::testing
