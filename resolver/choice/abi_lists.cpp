#include "resolver/choice/abi_lists.h"

#include <algorithm>
#include <optional>
#include <set>
#include <utility>

#include <fmt/format.h>

#include "wheel/requirement.h"
#include "wheel/variant/abi_dependency.h"
#include "wheel/version.h"

namespace axle::resolver {
namespace {

/// The most exact first; of equally exact ones the newest.
void sort_values(std::vector<std::string>& values) {
  const auto place = [](const std::string& value) {
    const auto version = wheel::parse_version(value);
    return std::pair(std::ranges::count(value, '.'),
                     version ? version->release : wheel::ReleaseNumbers());
  };
  std::ranges::sort(values, [&](const std::string& left, const std::string& right) {
    return place(left) != place(right) ? place(left) > place(right) : left < right;
  });
}

}  // namespace

bool is_abi_disabled(const wheel::VariantMetadata& metadata, const ProviderPolicy& policy,
                     const std::string& ns) {
  if (policy.disabled.contains(ns)) return true;
  const auto info = metadata.providers.find(ns);
  // Older documents had to call their dummy provider optional.
  return info != metadata.providers.end() && info->second.optional &&
         !info->second.builtin.empty() && !policy.enabled.contains(ns);
}

void warn_of_abi_defects(const wheel::VariantMetadata& metadata, const std::string& package,
                         Report& report) {
  for (const auto& [label, properties] : metadata.variants) {
    for (const wheel::Property& property : properties) {
      if (!wheel::is_abi_namespace(metadata, property.ns)) continue;
      const std::string defect = wheel::abi_property_defect(property);
      if (defect.empty()) continue;
      report.warn(fmt::format("variant {} of {} cannot be used: {}: {}", label, package,
                              wheel::render_property(property), defect));
    }
  }
}

AbiLists abi_lists(const wheel::VariantMetadata& metadata, const ProviderPolicy& policy,
                   const VersionOf& version_of) {
  std::map<std::pair<std::string, std::string>, std::set<std::string>> asked;
  for (const auto& [label, properties] : metadata.variants) {
    for (const wheel::Property& property : properties) {
      if (wheel::is_abi_namespace(metadata, property.ns) &&
          !is_abi_disabled(metadata, policy, property.ns)) {
        asked[{property.ns, property.feature}].insert(property.value);
      }
    }
  }
  AbiLists result;
  for (auto& [key, values] : asked) {
    const auto& [ns, feature] = key;
    const std::string package = wheel::normalize_name(feature);
    providers::Feature supported{feature, true, {}};
    std::optional<wheel::Version> version;
    if (version_of) version = version_of(package);
    for (const std::string& value : values) {
      if (!wheel::abi_property_defect({ns, feature, value}).empty()) continue;
      if (!version_of || (version && wheel::abi_versions(value).contains(*version)))
        supported.values.push_back(value);
    }
    sort_values(supported.values);
    if (!version_of || version) result.lists[ns].push_back(std::move(supported));
    result.assumptions.push_back({ns, package, std::move(version)});
  }
  return result;
}

}  // namespace axle::resolver
