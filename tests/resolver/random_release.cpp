#include "tests/resolver/random_release.h"

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

namespace axle::testing {
namespace {

/// Like std::uniform_int_distribution, but the same everywhere.
std::size_t below(std::mt19937_64& random, std::size_t bound) { return random() % bound; }

bool one_in(std::mt19937_64& random, std::size_t chances) { return below(random, chances) == 0; }

std::vector<std::string> names(char prefix, std::size_t count) {
  std::vector<std::string> result;
  result.reserve(count);
  for (std::size_t i = 0; i < count; ++i) result.push_back(prefix + std::to_string(i));
  return result;
}

/// Some of `all`, in random order.
std::vector<std::string> some(std::mt19937_64& random, std::vector<std::string> all,
                              std::size_t least) {
  for (std::size_t i = all.size(); i > 1; --i) std::swap(all[i - 1], all[below(random, i)]);
  all.resize(least + below(random, all.size() - least + 1));
  return all;
}

providers::Features random_features(std::mt19937_64& random, const ReleaseShape& shape) {
  providers::Features features;
  for (std::string& name : some(random, names('f', shape.features), 0)) {
    features.push_back({std::move(name), true, some(random, names('v', shape.values), 1)});
  }
  return features;
}

wheel::VariantProperties random_properties(std::mt19937_64& random, const RandomRelease& release,
                                           const ReleaseShape& shape) {
  wheel::VariantProperties properties;
  for (const std::string& ns : some(random, release.metadata.namespaces, 0)) {
    for (const std::string& feature : some(random, names('f', shape.features), 0)) {
      const auto list = release.supported.find(ns);
      std::vector<std::string> pool = names('v', shape.values);
      if (list != release.supported.end() && !one_in(random, 6)) {
        // Mostly what is supported, or hardly a variant would be compatible.
        const auto known = std::ranges::find(list->second, feature, &providers::Feature::name);
        if (known == list->second.end()) continue;
        pool = known->values;
      } else if (!one_in(random, 4)) {
        continue;
      }
      std::vector<std::string> values = some(random, pool, 1);
      if (!one_in(random, 3)) values.resize(1);
      for (std::string& value : values) properties.insert({ns, feature, std::move(value)});
    }
  }
  return properties;
}

void add_tables(std::mt19937_64& random, RandomRelease& release, const ReleaseShape& shape) {
  for (const std::string& ns : some(random, release.metadata.namespaces, 0)) {
    release.metadata.feature_priorities[ns] = some(random, names('f', shape.features), 0);
    auto& tables = release.metadata.property_priorities[ns];
    for (std::string& feature : some(random, names('f', shape.features), 0)) {
      tables.push_back({std::move(feature), some(random, names('v', shape.values), 0)});
    }
  }
}

}  // namespace

RandomRelease random_release(std::mt19937_64& random, const ReleaseShape& shape) {
  RandomRelease release;
  wheel::VariantMetadata& metadata = release.metadata;
  metadata.schema_version = "0.2.0";
  metadata.namespaces = some(random, names('n', shape.namespaces), 1);
  for (const std::string& ns : metadata.namespaces) {
    if (!one_in(random, 8)) release.supported[ns] = random_features(random, shape);
  }
  if (shape.draft_tables && one_in(random, 3)) {
    metadata.schema_version = "0.0.3";
    add_tables(random, release, shape);
  }
  const std::size_t count = below(random, shape.variants + 1);
  for (std::size_t i = 0; i < count; ++i) {
    // Twins under two labels make ties that only the label breaks.
    const bool twin = !metadata.variants.empty() && one_in(random, 6);
    wheel::VariantProperties properties =
        twin ? metadata.variants.begin()->second : random_properties(random, release, shape);
    if (properties.empty() && metadata.schema_version == "0.2.0") continue;
    metadata.variants["l" + std::to_string(below(random, 1000))] = std::move(properties);
  }
  if (one_in(random, 2)) metadata.variants["null"] = {};
  return release;
}

}  // namespace axle::testing
