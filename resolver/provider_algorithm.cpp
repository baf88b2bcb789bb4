#include "resolver/provider_algorithm.h"

#include <algorithm>
#include <iterator>
#include <string_view>
#include <utility>

#include <fmt/format.h>

#include "providers/provider.h"
#include "wheel/requirement.h"
#include "wheel/version.h"

namespace axle::resolver {
namespace {

using wheel::ProviderInfo;

/// What one namespace gets, and why.
struct NamespaceList {
  ListOrigin origin = ListOrigin::none;
  std::string detail;
  providers::Features features;
};

providers::Features as_features(const std::vector<wheel::FeatureValues>& lists) {
  providers::Features features;
  features.reserve(lists.size());
  for (const wheel::FeatureValues& list : lists) {
    features.push_back({list.feature, list.values.size() > 1, list.values});
  }
  return features;
}

/// The document's own property table, features in the order of its feature table (0.0.x,
/// `plugin-use: none`).
providers::Features from_priority_tables(const wheel::VariantMetadata& metadata,
                                         std::string_view ns) {
  const auto values = metadata.property_priorities.find(ns);
  if (values == metadata.property_priorities.end()) return {};
  const auto order = metadata.feature_priorities.find(ns);
  if (order == metadata.feature_priorities.end()) return as_features(values->second);
  std::vector<wheel::FeatureValues> in_order;
  std::vector<wheel::FeatureValues> rest = values->second;
  for (const std::string& feature : order->second) {
    const auto listed = std::ranges::find(rest, feature, &wheel::FeatureValues::feature);
    if (listed == rest.end()) continue;
    in_order.push_back(std::move(*listed));
    rest.erase(listed);
  }
  std::ranges::move(rest, std::back_inserter(in_order));
  return as_features(in_order);
}

/// Empty when `text` is no marker: an `enable-if` that cannot be read enables nothing.
bool marker_holds(std::string_view text, const wheel::MarkerEnvironment& environment) {
  const Result<wheel::Marker> marker = wheel::parse_marker(text);
  return marker && marker->evaluate(environment);
}

std::string derived_plugin_api(std::string_view requirement_name) {
  std::string api = wheel::normalize_name(requirement_name);
  std::ranges::replace(api, '-', '_');
  return api;
}

bool accepts_plugin_api(const providers::Provider& provider, const ProviderInfo& info,
                        std::string_view requirement_name) {
  const auto accepted = [&](std::string_view api) {
    return std::ranges::find(provider.plugin_apis, api) != provider.plugin_apis.end();
  };
  if (!info.plugin_api.empty()) return accepted(info.plugin_api);
  return accepted("") || accepted(derived_plugin_api(requirement_name));
}

/// The plugin's requirements that count here: those whose marker holds. nullopt for an unreadable
/// one.
std::optional<std::vector<wheel::Requirement>> applicable_requirements(
    const ProviderInfo& info, const wheel::MarkerEnvironment& environment) {
  std::vector<wheel::Requirement> result;
  for (const std::string& text : info.requires_) {
    Result<wheel::Requirement> requirement = wheel::parse_requirement(text);
    if (!requirement) return std::nullopt;
    if (requirement->marker && !requirement->marker->evaluate(environment)) continue;
    result.push_back(std::move(*requirement));
  }
  return result;
}

/// The version we stand for, or another one with the same lists.
bool accepts_version(const providers::Provider& provider, const wheel::SpecifierSet& specifiers) {
  const auto accepted = [&](std::string_view text) {
    const Result<wheel::Version> version = wheel::parse_version(text);
    return version && specifiers.contains(*version);
  };
  return accepted(provider.version) || std::ranges::any_of(provider.same_versions, accepted);
}

/// Why the provider that we carry is not the one the document asks for; nullopt when it is.
std::optional<std::string> mismatch_with(const providers::Provider& provider,
                                         const ProviderInfo& info,
                                         const wheel::MarkerEnvironment& environment) {
  if (!info.builtin.empty()) {
    const std::string name = wheel::normalize_name(info.builtin);
    if (name == wheel::normalize_name(provider.ns) || name == provider.package) return std::nullopt;
    return fmt::format("there is no built-in provider {}", info.builtin);
  }
  const auto requirements = applicable_requirements(info, environment);
  if (!requirements) return "its requirement cannot be read";
  if (requirements->size() != 1) {
    return fmt::format("it asks for {} packages, not for one", requirements->size());
  }
  const wheel::Requirement& requirement = requirements->front();
  if (!requirement.url.empty() || !requirement.extras.empty()) {
    return "its requirement has a URL or extras";
  }
  const std::string name = wheel::normalize_name(requirement.name);
  // An older name has version numbers of its own, which say nothing about the one we stand for.
  const bool older_name =
      std::ranges::find(provider.aliases, std::string_view(name)) != provider.aliases.end();
  if (name != provider.package && !older_name) {
    return fmt::format("Axle carries {} for this namespace", provider.package);
  }
  if (!older_name && !accepts_version(provider, requirement.specifiers)) {
    return fmt::format("Axle stands for version {}", provider.version);
  }
  if (!accepts_plugin_api(provider, info, name)) {
    return fmt::format("its plugin-api is {}",
                       info.plugin_api.empty() ? derived_plugin_api(name) : info.plugin_api);
  }
  return std::nullopt;
}

/// The package that a person would have to trust, as the document names it.
std::string plugin_package(const ProviderInfo& info) {
  if (!info.builtin.empty()) return "builtin:" + info.builtin;
  std::string names;
  for (const std::string& requirement : info.requires_) {
    if (!names.empty()) names += ", ";
    names += requirement;
  }
  return names;
}

NamespaceList list_of(const wheel::VariantMetadata& metadata, const std::string& ns,
                      const ProviderInfo* info, const detect::Machine& machine,
                      const ProviderPolicy& policy, const wheel::MarkerEnvironment& environment,
                      Report& report) {
  if (policy.disabled.contains(ns)) return {ListOrigin::disabled, "switched off", {}};
  if (info != nullptr && info->optional && !policy.enabled.contains(ns)) {
    return {ListOrigin::disabled, "optional and not switched on", {}};
  }
  if (info != nullptr && !info->enable_if.empty() && !marker_holds(info->enable_if, environment)) {
    return {ListOrigin::disabled, fmt::format("enable-if does not hold: {}", info->enable_if), {}};
  }
  if (info != nullptr && info->static_properties) {
    return {ListOrigin::static_list, "static-properties of the metadata",
            as_features(*info->static_properties)};
  }
  if (info != nullptr && !info->install_time) {
    return {ListOrigin::static_list, "default-priorities.property of the metadata",
            from_priority_tables(metadata, ns)};
  }
  if (policy.user_lists) {
    const auto list = policy.user_lists->find(ns);
    if (list != policy.user_lists->end()) {
      return {ListOrigin::user_list, "the lists given", list->second};
    }
  }
  if (info == nullptr) return {ListOrigin::none, "the metadata names no provider", {}};
  const providers::Provider* provider = providers::find_provider(ns);
  std::optional<std::string> mismatch;
  if (provider != nullptr) {
    mismatch = mismatch_with(*provider, *info, environment);
    if (!mismatch) {
      return {ListOrigin::builtin, fmt::format("{} {}", provider->package, provider->version),
              provider->supported(machine, policy.gpus)};
    }
  }
  const std::string package = plugin_package(*info);
  report.warn(
      fmt::format("nothing of namespace {} is selectable: its provider {} is not trusted{}{}", ns,
                  package, mismatch ? ": " : "", mismatch.value_or("")),
      fmt::format("the package that would have to be trusted is {}", package));
  return {ListOrigin::untrusted, fmt::format("{} would have to be trusted", package), {}};
}

}  // namespace

SupportedLists supported_lists(const wheel::VariantMetadata& metadata,
                               const detect::Machine& machine, const ProviderPolicy& policy,
                               const wheel::MarkerEnvironment& environment, Report& report) {
  SupportedLists result;
  for (const std::string& ns : metadata.namespaces) {
    if (ns == abi_dependency) {
      result.origins.push_back({ns, ListOrigin::none, "the versions of this resolution"});
      continue;
    }
    const auto info = metadata.providers.find(ns);
    NamespaceList list =
        list_of(metadata, ns, info == metadata.providers.end() ? nullptr : &info->second, machine,
                policy, environment, report);
    result.origins.push_back({ns, list.origin, std::move(list.detail)});
    if (!list.features.empty()) result.lists.insert_or_assign(ns, std::move(list.features));
  }
  return result;
}

}  // namespace axle::resolver
