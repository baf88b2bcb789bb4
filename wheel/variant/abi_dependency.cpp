#include "wheel/variant/abi_dependency.h"

#include <algorithm>
#include <map>
#include <ranges>
#include <utility>

#include <fmt/format.h>

#include "wheel/requirement.h"

namespace axle::wheel {
namespace {

constexpr std::size_t longest_component = 9;

bool is_component(std::string_view text) {
  return !text.empty() && text.size() <= longest_component &&
         std::ranges::all_of(text, [](char c) { return c >= '0' && c <= '9'; }) &&
         (text == "0" || text.front() != '0');
}

}  // namespace

bool is_abi_namespace(const VariantMetadata& document, std::string_view ns) {
  const auto provider = document.providers.find(ns);
  if (provider != document.providers.end() && !provider->second.builtin.empty())
    return provider->second.builtin == abi_dependency;
  return ns == abi_dependency;
}

std::string abi_property_defect(const Property& property) {
  std::string name = normalize_name(property.feature);
  std::ranges::replace(name, '-', '_');
  if (!is_valid_name(name) || name != property.feature)
    return fmt::format("\"{}\" is not a normalised package name", property.feature);
  std::size_t components = 0;
  for (const auto part : std::views::split(property.value, '.')) {
    if (!is_component(std::string_view(part.begin(), part.end())) || ++components > 3) {
      return fmt::format("\"{}\" is not one to three components of a version, such as 2.9",
                         property.value);
    }
  }
  return components == 0 ? "the version is empty" : std::string();
}

SpecifierSet abi_versions(std::string_view value) {
  auto specifiers = parse_specifiers(fmt::format("=={}.*", value));
  return specifiers ? std::move(*specifiers) : SpecifierSet{};
}

std::vector<AbiNeed> abi_needs(const VariantMetadata& document,
                               const VariantProperties& properties) {
  std::map<std::pair<std::string, std::string>, AbiNeed> needs;  // by namespace and feature
  for (const Property& property : properties) {
    if (!is_abi_namespace(document, property.ns) || !abi_property_defect(property).empty())
      continue;
    const std::string package = normalize_name(property.feature);
    AbiNeed& need = needs[{property.ns, property.feature}];
    need.text = need.package.empty() ? fmt::format("{} {}", package, property.value)
                                     : fmt::format("{} or {}", need.text, property.value);
    need.package = package;
    need.any_of.push_back(abi_versions(property.value));
  }
  std::vector<AbiNeed> result;
  for (auto& [feature, need] : needs) result.push_back(std::move(need));
  return result;
}

}  // namespace axle::wheel
