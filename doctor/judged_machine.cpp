#include "doctor/judged_machine.h"

#include <algorithm>
#include <optional>
#include <string_view>
#include <utility>

#include <fmt/core.h>

#include "detect/cpu/darwin.h"
#include "index/family/family.h"
#include "providers/provider.h"
#include "resolver/choice/abi_lists.h"
#include "resolver/choice/gpu_views.h"
#include "resolver/choice/provider_algorithm.h"
#include "resolver/choice/ranking.h"
#include "resolver/explain/facts.h"
#include "wheel/requirement.h"
#include "wheel/variant/abi_dependency.h"
#include "wheel/wheel_name.h"

namespace axle::doctor {

namespace {

/// 75_real before 100_real
std::vector<wheel::Property> values_of(const wheel::VariantProperties& properties,
                                       std::string_view ns, std::string_view feature) {
  std::vector<wheel::Property> values;
  for (const wheel::Property& one : properties) {
    if (one.ns == ns && one.feature == feature) values.push_back(one);
  }
  std::ranges::sort(values, {}, [](const wheel::Property& one) {
    return std::pair(one.value.size(), one.value);
  });
  return values;
}

/// What the properties of one document are compared with.
class DocumentLists {
 public:
  DocumentLists(const wheel::VariantMetadata& document, const JudgedMachine& judged,
                const wheel::MarkerEnvironment& markers, const InstalledVersions& installed)
      : document_(document),
        judged_(judged),
        installed_(installed),
        views_(providers::device_views(judged.machine, judged.gpus)) {
    CollectedReport unheard;
    resolver::ProviderPolicy policy = judged.providers;
    policy.gpus = judged.gpus;
    lists_ = resolver::supported_lists(document, judged.machine, policy, markers, unheard);
    const auto version_of = [&](const std::string& package) { return installed_version(package); };
    for (auto& [ns, features] : resolver::abi_lists(document, policy, version_of).lists)
      lists_.lists.insert_or_assign(ns, std::move(features));
  }

  [[nodiscard]] resolver::ViewedRanking rank(const wheel::VariantMetadata& document) const {
    resolver::SupportedLists lists = lists_;
    return resolver::rank_on_views(document, views_, lists);
  }

  /// Why nothing here determines whether the property is supported; empty if something does.
  [[nodiscard]] Facts silence_about(const wheel::Property& property) const {
    if (is_abi(property)) {
      if (installed_version(property.feature)) return {};
      return {{FactCode::package_not_installed, property.feature, {property.value}}};
    }
    const auto origin = std::ranges::find(lists_.origins, property.ns, &plan::NamespaceOrigin::ns);
    if (origin == lists_.origins.end()) return {};
    switch (origin->origin) {
      case plan::ListOrigin::disabled:
        return {{FactCode::namespace_disabled, property.ns, {property.value}, {}, origin->detail}};
      case plan::ListOrigin::untrusted:
      case plan::ListOrigin::failed:
      case plan::ListOrigin::none:
        return {{FactCode::namespace_unknown, property.ns, {property.value}, {}, origin->detail}};
      default:
        return {};
    }
  }

  /// It asks for a version of another package, and is not switched off.
  [[nodiscard]] bool is_abi(const wheel::Property& property) const {
    return wheel::is_abi_namespace(document_, property.ns) &&
           !resolver::is_abi_disabled(document_, judged_.providers, property.ns);
  }

  [[nodiscard]] bool is_switched_off(const wheel::Property& property) const {
    const auto origin = std::ranges::find(lists_.origins, property.ns, &plan::NamespaceOrigin::ns);
    return origin != lists_.origins.end() && origin->origin == plan::ListOrigin::disabled &&
           origin->by_user && providers::find_provider(property.ns) != nullptr;
  }

  [[nodiscard]] wheel::VariantProperties known_of(wheel::VariantProperties properties) const {
    std::erase_if(properties, [&](const auto& one) { return !silence_about(one).empty(); });
    return properties;
  }

  /// The facts behind a rejection, if a bundled provider decides it: what speaks against every
  /// value that the variant has of the feature. `view`: the one that did not fit; nullptr: the
  /// machine as a whole.
  [[nodiscard]] Facts facts_against(const resolver::RejectedVariant& variant,
                                    const detect::Machine* view) const {
    const wheel::Property& property = variant.property;
    if (!is_abi(property)) {
      std::vector<Facts> each;
      for (const wheel::Property& value :
           values_of(document_.variants.at(variant.label), property.ns, property.feature))
        each.push_back(resolver::machine_facts(value, judged_.machine, judged_.gpus, view));
      return merge_facts(each);
    }
    const auto version = installed_version(property.feature);
    if (!version) return {};
    return {{FactCode::package_installed,
             property.feature,
             {property.value},
             {wheel::render_version(*version)}}};
  }

 private:
  [[nodiscard]] std::optional<wheel::Version> installed_version(const std::string& package) const {
    const auto found = installed_.find(wheel::normalize_name(package));
    return found == installed_.end() ? std::nullopt : std::optional(found->second);
  }

  const wheel::VariantMetadata& document_;
  const JudgedMachine& judged_;
  const InstalledVersions& installed_;
  std::vector<detect::Machine> views_;
  resolver::SupportedLists lists_;
};

}  // namespace

VariantFit judge_variants(const wheel::VariantMetadata& document, const JudgedMachine& judged,
                          const wheel::MarkerEnvironment& markers,
                          const InstalledVersions& installed) {
  const DocumentLists lists(document, judged, markers, installed);
  VariantFit fit;
  const auto add = [&](const resolver::ViewedRanking& viewed,
                       const resolver::RejectedVariant& variant) {
    const auto view = viewed.against.find(variant.label);
    const detect::Machine* against = view == viewed.against.end() ? nullptr : view->second;
    fit.rejected.insert_or_assign(
        variant.label,
        VariantFit::Misfit{variant.property, variant.reason, lists.facts_against(variant, against),
                           false, false, lists.is_abi(variant.property)});
  };
  const resolver::ViewedRanking viewed = lists.rank(document);
  for (const resolver::RankedVariant& variant : viewed.ranking.ranked)
    fit.fitting.push_back(variant.label);
  // An unknown property does not hide that another one does not fit.
  wheel::VariantMetadata rest;
  for (const resolver::RejectedVariant& variant : viewed.ranking.rejected) {
    Facts silence = lists.silence_about(variant.property);
    if (silence.empty()) {
      add(viewed, variant);
      continue;
    }
    fit.rejected.emplace(variant.label,
                         VariantFit::Misfit{variant.property, variant.reason, std::move(silence),
                                            true, lists.is_switched_off(variant.property),
                                            lists.is_abi(variant.property)});
    if (rest.variants.empty()) {
      rest = document;
      rest.variants.clear();
    }
    rest.variants.emplace(variant.label, lists.known_of(document.variants.at(variant.label)));
  }
  if (rest.variants.empty()) return fit;
  const resolver::ViewedRanking again = lists.rank(rest);
  for (const resolver::RejectedVariant& variant : again.ranking.rejected) add(again, variant);
  return fit;
}

std::string builds_platform(const detect::Machine& machine) {
  const detect::Arch arch = machine.cpu.arch;
  if (machine.os.system == "Windows")
    return index::family_platform(arch == detect::Arch::x86_64    ? "win_amd64"
                                  : arch == detect::Arch::aarch64 ? "win_arm64"
                                                                  : "");
  if (machine.os.system == detect::darwin)
    return arch == detect::Arch::aarch64  ? index::family_platform("macosx_arm64")
           : arch == detect::Arch::x86_64 ? "macos_x86_64"
                                          : "";
  const bool glibc = machine.libc.family.empty() || machine.libc.family == "glibc";
  if (!is_linux(machine) || !glibc) return {};
  return index::family_platform(fmt::format("linux_{}", detect::render_arch(arch)));
}

}  // namespace axle::doctor
