#include "builder/table/property_checks.h"

#include <algorithm>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "foundation/text/nearest.h"
#include "providers/exclusive_properties.h"
#include "wheel/requirement.h"
#include "wheel/variant/abi_dependency.h"

namespace axle::builder {

namespace {

using wheel::Property;

std::string first_words(const std::vector<std::string>& words) {
  constexpr std::size_t shown = 8;
  const auto end = words.begin() + static_cast<std::ptrdiff_t>(std::min(shown, words.size()));
  return fmt::format("it has {}{}", fmt::join(words.begin(), end, ", "),
                     words.size() > shown ? ", …" : "");
}

/// "90" and "sm_90" of 90_real and 90_virtual: "did you mean 90_real or 90_virtual?"; empty: none
/// begins so.
std::string completed(std::string_view value, const std::vector<std::string>& known) {
  for (const std::string_view prefix : {"sm_", "compute_"}) {
    if (value.starts_with(prefix)) value.remove_prefix(prefix.size());
  }
  std::vector<std::string> longer;
  for (const std::string& one : known) {
    if (one.size() > value.size() && one.starts_with(value) && one[value.size()] == '_')
      longer.push_back(one);
  }
  return longer.empty() ? std::string()
                        : fmt::format("did you mean {}?", text::joined_by_or(longer));
}

}  // namespace

KnownProperties::KnownProperties(const wheel::VariantMetadata& metadata, Report& report)
    : metadata_(metadata) {
  for (const auto& [ns, info] : metadata.providers) {
    if (wheel::is_abi_namespace(metadata, ns)) continue;
    if (auto values = values_of(ns, info)) {
      values_.emplace(ns, std::move(*values));
    } else {
      report.note(
          fmt::format("the provider of {} is unknown here: its properties are not checked", ns));
    }
  }
}

std::optional<KnownProperties::Values> KnownProperties::values_of(std::string_view ns,
                                                                  const wheel::ProviderInfo& info) {
  Values values;
  if (info.static_properties) {
    for (const wheel::FeatureValues& entry : *info.static_properties) {
      values.emplace(entry.feature, providers::Feature{entry.feature, true, entry.values});
    }
    return values;
  }
  const providers::Provider* provider = providers::find_provider(ns);
  if (provider == nullptr || info.requires_.empty()) return std::nullopt;
  const auto requirement = wheel::parse_requirement(info.requires_.front());
  if (!requirement) return std::nullopt;
  const std::string package = wheel::normalize_name(requirement->name);
  if (package != provider->package &&
      std::ranges::find(provider->aliases, package) == provider->aliases.end()) {
    return std::nullopt;
  }
  const providers::Features all = provider->all();
  for (const std::string_view feature : provider->open_features) {
    const auto listed = std::ranges::find(all, feature, &providers::Feature::name);
    const bool several = listed != all.end() && listed->multi_value;
    values.emplace(feature, providers::Feature{std::string(feature), several, {}});
  }
  for (providers::Feature feature : all) {
    std::string name = feature.name;
    values.emplace(std::move(name), std::move(feature));
  }
  return values;
}

/// "the namespace axle has it": where else a feature of that name is known.
std::string KnownProperties::elsewhere(const Property& property) const {
  for (const providers::Provider& provider : providers::builtin_providers()) {
    if (provider.ns == property.ns) continue;
    for (const providers::Feature& feature : provider.all()) {
      const auto& values = feature.values;
      if (feature.name == property.feature &&
          std::ranges::find(values, property.value) != values.end()) {
        return fmt::format("the namespace {} has it", provider.ns);
      }
    }
  }
  return {};
}

void KnownProperties::check_one(const PropertyPlace& place, const Property& property) const {
  const auto of = values_.find(property.ns);
  if (of == values_.end()) return;
  const Values& values = of->second;
  const std::string text = wheel::render_property(property);
  const auto feature = values.find(property.feature);
  if (feature == values.end()) {
    std::vector<std::string> known;
    for (const auto& [name, entry] : values) known.push_back(name);
    std::string hint = text::did_you_mean(property.feature, known);
    if (hint.empty()) hint = elsewhere(property);
    place.table.refuse(
        place.key, fmt::format("\"{}\": the provider has no feature {}", text, property.feature),
        hint.empty() ? first_words(known) : hint);
    return;
  }
  const auto& known = feature->second.values;
  if (known.empty() || std::ranges::find(known, property.value) != known.end()) return;
  std::string hint = completed(property.value, known);
  if (hint.empty()) hint = text::suggest(property.value, known, first_words(known));
  place.table.refuse(place.key, fmt::format("\"{}\": the provider has no such value", text),
                     std::move(hint));
}

void KnownProperties::check(const PropertyPlace& place,
                            const wheel::VariantProperties& properties) const {
  for (const Property& property : properties) {
    if (wheel::is_abi_namespace(metadata_, property.ns)) {
      const std::string defect = wheel::abi_property_defect(property);
      if (!defect.empty())
        place.table.refuse(place.key,
                           fmt::format("\"{}\": {}", wheel::render_property(property), defect));
    } else if (!metadata_.providers.contains(property.ns)) {
      std::vector<std::string> known = providers::builtin_namespaces();
      for (const auto& [ns, info] : metadata_.providers) known.push_back(ns);
      place.table.refuse(
          place.key,
          fmt::format("\"{}\": the namespace {} has no provider", wheel::render_property(property),
                      property.ns),
          text::suggest(property.ns, known,
                        fmt::format("[variant.providers.{}] says what supports it", property.ns)));
    } else {
      check_one(place, property);
    }
  }
}

std::string KnownProperties::conflict_in(const wheel::VariantProperties& properties) const {
  const Property* previous = nullptr;
  for (const Property& property : properties) {
    const bool again =
        previous != nullptr && previous->ns == property.ns && previous->feature == property.feature;
    previous = &property;
    const auto of = values_.find(property.ns);
    if (!again || of == values_.end()) continue;
    const auto feature = of->second.find(property.feature);
    if (feature != of->second.end() && !feature->second.multi_value)
      return fmt::format("{} :: {} takes one value, not several", property.ns, property.feature);
  }
  const std::string why = providers::contradiction_in(properties);
  return why.empty() ? why : "no machine has all of its properties: " + why;
}

void KnownProperties::check_together(const PropertyPlace& place, std::string_view label,
                                     const wheel::VariantProperties& properties) const {
  const std::string why = conflict_in(properties);
  if (why.empty()) return;
  place.table.refuse(place.key, fmt::format("variant {}: {}", label, why),
                     "declare one of them, or list the combination under exclude");
}

}  // namespace axle::builder
