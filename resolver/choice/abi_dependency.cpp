#include "resolver/choice/abi_dependency.h"

#include <algorithm>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>

#include <fmt/format.h>

#include "resolver/choice/ranking.h"
#include "wheel/requirement.h"
#include "wheel/version.h"

namespace axle::resolver {
namespace {

/// `value` stands for `=={value}.*`, one to three release components; nullopt: it is none.
std::optional<wheel::SpecifierSet> versions_of(const std::string& value) {
  if (std::ranges::count(value, '.') > 2) return std::nullopt;
  const bool components =
      std::ranges::all_of(value, [](char c) { return c == '.' || (c >= '0' && c <= '9'); });
  if (!components) return std::nullopt;
  auto specifiers = wheel::parse_specifiers("==" + value + ".*");
  if (!specifiers) return std::nullopt;
  return std::move(*specifiers);
}

/// The most exact first; of equally exact ones the newest.
void sort_values(std::vector<std::string>& values) {
  const auto place = [](const std::string& value) {
    const auto version = wheel::parse_version(value);
    return std::pair(std::ranges::count(value, '.'),
                     version ? version->release : std::vector<std::uint64_t>());
  };
  std::ranges::sort(values, [&](const std::string& left, const std::string& right) {
    return place(left) != place(right) ? place(left) > place(right) : left < right;
  });
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
    providers::Feature supported{feature, true, {}};
    std::optional<wheel::Version> version;
    if (version_of) version = version_of(package);
    for (const std::string& value : values) {
      const auto specifiers = versions_of(value);
      if (specifiers && (!version_of || (version && specifiers->contains(*version))))
        supported.values.push_back(value);
    }
    sort_values(supported.values);
    if (!version_of || version) result.features.push_back(std::move(supported));
    result.assumptions.push_back({package, std::move(version)});
  }
  return result;
}

std::vector<AbiNeed> abi_needs(const wheel::VariantProperties& properties) {
  std::map<std::string, AbiNeed> needs;  // one value of a feature is enough
  for (const wheel::Property& property : properties) {
    if (property.ns != abi_dependency) continue;
    auto specifiers = versions_of(property.value);
    if (!specifiers) continue;
    const std::string package = wheel::normalize_name(property.feature);
    AbiNeed& need = needs[package];
    need.text = need.package.empty() ? fmt::format("{} {}", package, property.value)
                                     : fmt::format("{} or {}", need.text, property.value);
    need.package = package;
    need.any_of.push_back(std::move(*specifiers));
  }
  std::vector<AbiNeed> result;
  for (auto& [package, need] : needs) result.push_back(std::move(need));
  return result;
}

}  // namespace axle::resolver
