#include "builder/variant_table.h"

#include <algorithm>
#include <map>
#include <set>
#include <sstream>
#include <string>
#include <vector>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "providers/provider.h"
#include "wheel/requirement.h"
#include "wheel/variant/abi_dependency.h"

namespace axle::builder {

namespace {

constexpr std::string_view schema = "https://variants-schema.wheelnext.dev/peps/850/v0.2.0.json";

// TOML's tables as JSON, with the parts that the pyproject form omits added.
std::string to_json(const toml::table& variant) {
  std::ostringstream text;
  text << toml::json_formatter(variant, toml::format_flags::none);
  nlohmann::json json = nlohmann::json::parse(text.str(), nullptr, false);
  if (!json.is_object()) return "{}";
  json["$schema"] = schema;
  if (!json.contains("providers")) json["providers"] = nlohmann::json::object();
  if (!json.contains("variants")) json["variants"] = nlohmann::json::object();
  return json.dump();
}

// `build-requires` needs a run of the plugin at build time; its answer can be written down instead.
void refuse_build_requires(documents::TomlTable& variant) {
  auto providers = variant.table("providers");
  if (!providers) return;
  for (const auto& [ns, node] : providers->node()) {
    const toml::table* table = node.as_table();
    if (table == nullptr || !table->contains("build-requires")) continue;
    providers->refuse(ns.str(), "build-requires needs to run the plugin",
                      "write its answer as static-properties and feature-order",
                      ErrorKind::unsupported);
  }
}

// A feature without values accepts any.
using Values = std::map<std::string, providers::Feature, std::less<>>;

// The valid properties of a namespace; null if unknown here.
std::optional<Values> values_of(std::string_view ns, const wheel::ProviderInfo& info) {
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

void check_property(documents::TomlTable& variants, std::string_view label,
                    const wheel::Property& property, const Values& values) {
  const auto feature = values.find(property.feature);
  if (feature == values.end()) {
    variants.refuse(label, fmt::format("\"{}\": the provider has no feature {}",
                                       wheel::render_property(property), property.feature));
    return;
  }
  const auto& known = feature->second.values;
  if (known.empty() || std::ranges::find(known, property.value) != known.end()) return;
  variants.refuse(
      label,
      fmt::format("\"{}\": the provider has no such value", wheel::render_property(property)),
      fmt::format("it has {}{}",
                  fmt::join(known.begin(),
                            known.begin() + std::min<std::ptrdiff_t>(8, std::ssize(known)), ", "),
                  known.size() > 8 ? ", …" : ""));
}

void check_single_values(documents::TomlTable& variants, std::string_view label,
                         const wheel::VariantProperties& properties, std::string_view ns,
                         const Values& values) {
  const wheel::Property* previous = nullptr;
  for (const wheel::Property& property : properties) {
    if (property.ns != ns) continue;
    const bool again = previous != nullptr && previous->feature == property.feature;
    const auto feature = values.find(property.feature);
    if (again && feature != values.end() && !feature->second.multi_value) {
      variants.refuse(label,
                      fmt::format("{} :: {} takes one value, not several", ns, property.feature));
    }
    previous = &property;
  }
}

void check_abi_properties(documents::TomlTable& variants, const wheel::VariantMetadata& metadata) {
  for (const auto& [label, properties] : metadata.variants) {
    for (const wheel::Property& property : properties) {
      if (!wheel::is_abi_namespace(metadata, property.ns)) continue;
      const std::string defect = wheel::abi_property_defect(property);
      if (defect.empty()) continue;
      variants.refuse(label, fmt::format("\"{}\": {}", wheel::render_property(property), defect));
    }
  }
}

void check_properties(documents::TomlTable& variant, const wheel::VariantMetadata& metadata,
                      Report& report) {
  auto variants = variant.table("variants");
  if (!variants) return;
  check_abi_properties(*variants, metadata);
  for (const auto& [ns, info] : metadata.providers) {
    if (wheel::is_abi_namespace(metadata, ns)) continue;
    const auto values = values_of(ns, info);
    if (!values) {
      report.note(
          fmt::format("the provider of {} is unknown here: its properties are not checked", ns));
      continue;
    }
    for (const auto& [label, properties] : metadata.variants) {
      for (const wheel::Property& property : properties) {
        if (property.ns == ns) check_property(*variants, label, property, *values);
      }
      check_single_values(*variants, label, properties, ns, *values);
    }
  }
}

}  // namespace

std::optional<wheel::VariantMetadata> read_variants(documents::TomlTable& variant, Report& report) {
  refuse_build_requires(variant);
  if (variant.reading().error()) return std::nullopt;
  const std::string where = fmt::format("{}: [variant]", variant.reading().place(variant.node()));
  auto metadata = wheel::parse_variant_metadata(to_json(variant.node()), where, report);
  if (!metadata) {
    variant.reading().refuse(metadata.error());
    return std::nullopt;
  }
  check_properties(variant, *metadata, report);
  return std::move(*metadata);
}

}  // namespace axle::builder
