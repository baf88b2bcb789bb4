#include "resolver/choice/abi_dependency.h"

#include <algorithm>
#include <map>
#include <set>
#include <string>
#include <utility>

#include "resolver/choice/ranking.h"
#include "wheel/requirement.h"
#include "wheel/specifier.h"

namespace axle::resolver {
namespace {

/// `value` stands for `=={value}.*`, one to three release components.
bool matches(const std::string& value, const wheel::Version& version) {
  if (std::ranges::count(value, '.') > 2) return false;
  const bool components =
      std::ranges::all_of(value, [](char c) { return c == '.' || (c >= '0' && c <= '9'); });
  if (!components) return false;
  const auto specifiers = wheel::parse_specifiers("==" + value + ".*");
  return specifiers && specifiers->contains(version);
}

}  // namespace

AbiLists abi_lists(const wheel::VariantMetadata& metadata, const VersionOf& version_of) {
  std::map<std::string, std::set<std::string>> asked;
  for (const auto& [label, properties] : metadata.variants) {
    for (const wheel::Property& property : properties) {
      if (property.ns == abi_dependency) asked[property.feature].insert(property.value);
    }
  }
  AbiLists result;
  for (auto& [feature, values] : asked) {
    const std::string package = wheel::normalize_name(feature);
    std::optional<wheel::Version> version = version_of(package);
    if (version) {
      providers::Feature supported{feature, true, {}};
      for (const std::string& value : values) {
        if (matches(value, *version)) supported.values.push_back(value);
      }
      std::ranges::sort(supported.values, [](const std::string& left, const std::string& right) {
        const auto dots = [](const std::string& value) { return std::ranges::count(value, '.'); };
        return dots(left) != dots(right) ? dots(left) > dots(right) : left < right;
      });
      result.features.push_back(std::move(supported));
    }
    result.assumptions.push_back({package, std::move(version)});
  }
  return result;
}

}  // namespace axle::resolver
