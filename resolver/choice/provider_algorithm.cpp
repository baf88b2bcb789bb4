#include "resolver/choice/provider_algorithm.h"

#include <algorithm>
#include <iterator>
#include <string_view>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "providers/provider.h"
#include "resolver/choice/abi_lists.h"
#include "wheel/requirement.h"
#include "wheel/variant/abi_dependency.h"
#include "wheel/version.h"

namespace axle::resolver {
namespace {

using wheel::ProviderInfo;

/// What one namespace gets, and why.
struct NamespaceList {
  plan::ListOrigin origin = plan::ListOrigin::none;
  std::string detail;
  providers::Features features;
  bool by_user = false;  ///< as in plan::NamespaceOrigin
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

/// Empty when `text` is not a marker: an `enable-if` that cannot be read enables nothing.
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
    return fmt::format("it names {} packages instead of one", requirements->size());
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
    return fmt::format("Axle includes {} for this namespace", provider.package);
  }
  if (!older_name && !accepts_version(provider, requirement.specifiers)) {
    return fmt::format("Axle implements version {}", provider.version);
  }
  if (!accepts_plugin_api(provider, info, name)) {
    return fmt::format("its plugin-api is {}",
                       info.plugin_api.empty() ? derived_plugin_api(name) : info.plugin_api);
  }
  return std::nullopt;
}

/// What the metadata itself and the user say: rules 1 to 3, before any provider is looked at.
std::optional<NamespaceList> given_list(const wheel::VariantMetadata& metadata,
                                        const std::string& ns, const ProviderInfo* info,
                                        const ProviderPolicy& policy,
                                        const wheel::MarkerEnvironment& environment) {
  if (policy.disabled.contains(ns))
    return NamespaceList{plan::ListOrigin::disabled, "disabled", {}, true};
  if (info != nullptr && info->optional && !policy.enabled.contains(ns)) {
    return NamespaceList{plan::ListOrigin::disabled, "optional and not enabled", {}, true};
  }
  if (info != nullptr && !info->enable_if.empty() && !marker_holds(info->enable_if, environment)) {
    return NamespaceList{
        plan::ListOrigin::disabled, fmt::format("enable-if is false: {}", info->enable_if), {}};
  }
  if (info != nullptr && info->static_properties) {
    return NamespaceList{plan::ListOrigin::static_list, "static-properties of the metadata",
                         as_features(*info->static_properties)};
  }
  if (info != nullptr && !info->install_time) {
    return NamespaceList{plan::ListOrigin::static_list,
                         "default-priorities.property of the metadata",
                         from_priority_tables(metadata, ns)};
  }
  if (policy.user_lists) {
    const auto list = policy.user_lists->find(ns);
    if (list != policy.user_lists->end()) {
      return NamespaceList{plan::ListOrigin::user_list, "the given lists", list->second};
    }
  }
  if (info == nullptr) {
    return NamespaceList{plan::ListOrigin::none, "the metadata does not name a provider", {}};
  }
  return std::nullopt;
}

/// Rule 4. nullopt: it is a plugin's turn; `mismatch` says why not ours, where we have one.
std::optional<NamespaceList> builtin_list(const std::string& ns, const ProviderInfo& info,
                                          const detect::Machine& machine,
                                          const providers::GpuPolicy& gpus,
                                          const wheel::MarkerEnvironment& environment,
                                          Report& report, std::string& mismatch) {
  const providers::Provider* provider = providers::find_provider(ns);
  if (provider != nullptr) {
    const auto why_not = mismatch_with(*provider, info, environment);
    if (!why_not) {
      return NamespaceList{plan::ListOrigin::builtin,
                           fmt::format("{} {}", provider->package, provider->version),
                           provider->supported(machine, gpus)};
    }
    mismatch = *why_not;
  }
  if (info.builtin.empty()) return std::nullopt;
  // Nothing could be trusted: the document asks for a part of the installer.
  std::string why = fmt::format("there is no built-in provider {} for it", info.builtin);
  report.warn(fmt::format("nothing in namespace {} is selectable: {}", ns, why),
              "a newer version of Axle may have it");
  return NamespaceList{plan::ListOrigin::none, std::move(why), {}};
}

/// nullopt: its requirements cannot be read, or none counts here; `why` says which.
std::optional<PluginRequest> plugin_request(const std::string& ns, const ProviderInfo& info,
                                            const wheel::MarkerEnvironment& environment,
                                            std::string& why) {
  const auto requirements = applicable_requirements(info, environment);
  if (!requirements) {
    why = "its requirement cannot be read";
    return std::nullopt;
  }
  if (requirements->empty()) {
    why = "none of its requirements applies to this platform";
    return std::nullopt;
  }
  PluginRequest request{ns, {}, info.plugin_api, {}};
  for (const wheel::Requirement& requirement : *requirements) {
    wheel::Requirement bare = requirement;
    bare.marker.reset();
    request.requires_.push_back(wheel::render_requirement(bare));
  }
  if (request.plugin_api.empty())
    request.plugin_api = derived_plugin_api(requirements->front().name);
  return request;
}

/// Without a host nothing is trusted.
std::vector<PluginLists> refuse_all(std::span<const PluginRequest> requests, Report& report) {
  std::vector<PluginLists> lists;
  for (const PluginRequest& request : requests) {
    const std::string packages = fmt::format("{}", fmt::join(request.requires_, ", "));
    report.warn(
        fmt::format("nothing in namespace {} is selectable: its provider {} is not trusted{}{}",
                    request.ns, packages, request.not_ours.empty() ? "" : ": ", request.not_ours),
        fmt::format("the package to trust is {}", packages));
    lists.push_back(
        {plan::ListOrigin::untrusted, fmt::format("{} would have to be trusted", packages), {}});
  }
  return lists;
}

std::set<std::string_view> used_namespaces(const wheel::VariantMetadata& metadata) {
  std::set<std::string_view> used;
  for (const auto& [label, properties] : metadata.variants) {
    for (const wheel::Property& property : properties) used.insert(property.ns);
  }
  return used;
}

/// The lists of one document while they are put together.
class Lists {
 public:
  Lists(const wheel::VariantMetadata& metadata, const detect::Machine& machine,
        const ProviderPolicy& policy, const wheel::MarkerEnvironment& environment, Report& report)
      : metadata_(metadata),
        machine_(machine),
        policy_(policy),
        environment_(environment),
        report_(report) {}

  /// Rules 1 to 4; what is left to a plugin waits for `ask_plugins`.
  void add(const std::string& ns) {
    const auto entry = metadata_.providers.find(ns);
    const ProviderInfo* info = entry == metadata_.providers.end() ? nullptr : &entry->second;
    auto list = given_list(metadata_, ns, info, policy_, environment_);
    std::string mismatch;
    if (!list)
      list = builtin_list(ns, *info, machine_, policy_.gpus, environment_, report_, mismatch);
    if (!list && !used_.contains(ns)) {
      list = NamespaceList{plan::ListOrigin::none, "no variant uses it", {}};
    }
    if (!list) {
      std::string why;
      auto request = plugin_request(ns, *info, environment_, why);
      if (request) {
        waiting_.push_back(lists_.size());
        request->not_ours = std::move(mismatch);
        requests_.push_back(std::move(*request));
      } else {
        report_.warn(fmt::format("nothing in namespace {} is selectable: {}", ns, why));
      }
      list = NamespaceList{plan::ListOrigin::none, std::move(why), {}};
    }
    lists_.emplace_back(ns, std::move(*list));
  }

  /// Rules 5 and 6.
  void ask_plugins() {
    if (requests_.empty()) return;
    std::vector<PluginLists> answers = policy_.plugins != nullptr
                                           ? policy_.plugins->ask(requests_, report_)
                                           : refuse_all(requests_, report_);
    for (std::size_t i = 0; i < waiting_.size(); ++i) {
      NamespaceList& list = lists_[waiting_[i]].second;
      list = {answers[i].origin, std::move(answers[i].detail), std::move(answers[i].features)};
      if (list.origin != plan::ListOrigin::plugin && !requests_[i].not_ours.empty())
        list.detail += "; " + requests_[i].not_ours;
    }
  }

  [[nodiscard]] SupportedLists take() {
    SupportedLists result;
    for (auto& [ns, list] : lists_) {
      result.origins.push_back({ns, list.origin, std::move(list.detail), list.by_user});
      if (!list.features.empty()) result.lists.insert_or_assign(ns, std::move(list.features));
    }
    return result;
  }

  void add_known(const std::string& ns, NamespaceList list) {
    lists_.emplace_back(ns, std::move(list));
  }

 private:
  const wheel::VariantMetadata& metadata_;
  const detect::Machine& machine_;
  const ProviderPolicy& policy_;
  const wheel::MarkerEnvironment& environment_;
  Report& report_;
  const std::set<std::string_view> used_ = used_namespaces(metadata_);
  std::vector<std::pair<std::string, NamespaceList>> lists_;
  std::vector<std::size_t> waiting_;  ///< places in `lists_` of what a plugin will say
  std::vector<PluginRequest> requests_;
};

}  // namespace

SupportedLists supported_lists(const wheel::VariantMetadata& metadata,
                               const detect::Machine& machine, const ProviderPolicy& policy,
                               const wheel::MarkerEnvironment& environment, Report& report) {
  Lists lists(metadata, machine, policy, environment, report);
  for (const std::string& ns : metadata.namespaces) {
    if (!wheel::is_abi_namespace(metadata, ns)) {
      lists.add(ns);
    } else if (is_abi_disabled(metadata, policy, ns)) {
      const bool by_name = policy.disabled.contains(ns);
      lists.add_known(ns, {plan::ListOrigin::disabled,
                           by_name ? "disabled" : "optional and not enabled",
                           {},
                           true});
    } else {
      lists.add_known(ns, {plan::ListOrigin::none, "the versions of this resolution", {}});
    }
  }
  lists.ask_plugins();
  return lists.take();
}

SupportedProperties beside_own_lists(const wheel::VariantMetadata& metadata,
                                     const ProviderPolicy& policy,
                                     const wheel::MarkerEnvironment& environment,
                                     SupportedProperties given) {
  for (const std::string& ns : metadata.namespaces) {
    if (given.contains(ns)) continue;
    const auto info = metadata.providers.find(ns);
    if (info == metadata.providers.end()) continue;
    auto own = given_list(metadata, ns, &info->second, policy, environment);
    if (own && own->origin == plan::ListOrigin::static_list && !own->features.empty())
      given.emplace(ns, std::move(own->features));
  }
  return given;
}

}  // namespace axle::resolver
