#include "builder/variant_table.h"

#include <algorithm>
#include <map>
#include <sstream>
#include <string>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <nlohmann/json.hpp>

#include "builder/table/property_checks.h"
#include "foundation/text/nearest.h"
#include "providers/provider.h"
#include "wheel/variant/abi_dependency.h"

namespace axle::builder {

namespace {

constexpr std::string_view schema = "https://variants-schema.wheelnext.dev/peps/850/v0.2.0.json";

using Json = nlohmann::json;

// TOML's tables as JSON, with the parts that the pyproject form omits added.
Json to_json(const toml::table& variant) {
  std::ostringstream text;
  text << toml::json_formatter(variant, toml::format_flags::none);
  Json json = Json::parse(text.str(), nullptr, false);
  if (!json.is_object()) json = Json::object();
  json["$schema"] = schema;
  for (const char* part : {"providers", "variants"}) {
    if (!json.contains(part)) json[part] = Json::object();
  }
  return json;
}

// What a product needs of the document and the user left out.
void add_namespace(Json& json, const std::string& ns) {
  if (json["default-priorities"].is_null()) json["default-priorities"] = Json::object();
  if (!json["default-priorities"].is_object() || !json["providers"].is_object()) return;
  Json& priorities = json["default-priorities"]["namespace"];
  if (priorities.is_null()) priorities = Json::array();
  if (priorities.is_array() && std::ranges::find(priorities, Json(ns)) == priorities.end())
    priorities.push_back(ns);
  const providers::Provider* provider = providers::find_provider(ns);
  if (provider == nullptr || json["providers"].contains(ns)) return;
  Json& entry = json["providers"][ns];
  entry["requires"] = {std::string(provider->package)};
  if (!provider->plugin_apis.empty() && !provider->plugin_apis.front().empty())
    entry["plugin-api"] = std::string(provider->plugin_apis.front());
}

void add_products(Json& json, const Products& products) {
  for (const std::string& ns : namespaces_of(products.axes)) add_namespace(json, ns);
  if (!json["variants"].is_object()) return;
  for (const Combination& one : products.combinations) {
    Json properties = Json::object();
    for (const wheel::Property& property : one.properties)
      properties[property.ns][property.feature].push_back(property.value);
    json["variants"][one.label] = std::move(properties);
  }
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

/// Namespaces that the table has: of its providers and of the axes.
std::vector<std::string> namespaces_in(const Json& json) {
  std::vector<std::string> all;
  if (!json["providers"].is_object()) return all;
  for (const auto& [ns, entry] : json["providers"].items()) all.push_back(ns);
  return all;
}

void check_priorities(documents::TomlTable& variant, const Json& json) {
  const std::vector<std::string> known = namespaces_in(json);
  if (!json.contains("default-priorities")) {
    variant.refuse(
        "default-priorities", "the table is missing",
        fmt::format("write [variant.default-priorities] with namespace = [\"{}\"], the "
                    "namespaces of the properties, the most important one first",
                    known.empty() ? "x86_64" : fmt::format("{}", fmt::join(known, "\", \""))));
    return;
  }
  auto priorities = variant.table("default-priorities");
  if (!priorities) return;
  const toml::array* list = priorities->node()["namespace"].as_array();
  for (std::size_t i = 0; list != nullptr && i < list->size(); ++i) {
    const toml::node& node = *list->get(i);
    const std::string name = node.value_or(std::string());
    if (name.empty() || name == wheel::abi_dependency ||
        std::ranges::find(known, name) != known.end())
      continue;
    const providers::Provider* bundled = providers::find_provider(name);
    variant.reading().refuse(
        node, priorities->path_of("namespace"),
        fmt::format("no provider for the namespace \"{}\"", name),
        text::suggest(name, known,
                      fmt::format("write [variant.providers.{}] with requires = [\"{}\"]", name,
                                  bundled == nullptr ? "its-package" : bundled->package)));
  }
}

/// A label that [variant.variants] and a product have must mean the same.
void refuse_two_meanings(documents::TomlTable& variant, const Products& products) {
  auto variants = variant.table("variants");
  if (!variants) return;
  for (const Combination& one : products.combinations) {
    if (!variants->node().contains(one.label)) continue;
    variants->refuse(one.label, "a product of [tool.axle.axes] makes a variant with this label",
                     "remove one of them");
  }
}

/// Each place where properties are written.
void check_properties(documents::TomlTable* variant, const wheel::VariantMetadata& metadata,
                      const Products& products, Report& report) {
  const KnownProperties known(metadata, report);
  auto variants = variant != nullptr ? variant->table("variants") : std::nullopt;
  if (variants) {
    for (const auto& [key, node] : variants->node()) {
      const std::string label(key.str());
      const auto found = metadata.variants.find(label);
      if (found == metadata.variants.end()) continue;
      known.check({*variants, label}, found->second);
      known.check_together({*variants, label}, label, found->second);
    }
  }
  for (Axis axis : products.axes) {
    for (const AxisValue& value : axis.values) {
      known.check({axis.table, value.name}, value.properties);
      known.check_together({axis.table, value.name}, value.name, value.properties);
    }
  }
  for (const Combination& one : products.combinations) {
    documents::TomlTable table = one.table;
    known.check_together({table, one.key}, one.label, one.properties);
  }
}

/// No machine could tell such variants apart.
void refuse_equals(documents::TomlTable* variant, const Products& products,
                   const wheel::VariantMetadata& metadata) {
  struct Place {
    documents::TomlTable table;
    std::string key;
  };
  std::map<wheel::VariantProperties, std::pair<std::string, std::string>> seen;
  const auto look_at = [&](const std::string& label, const wheel::VariantProperties& properties,
                           Place place) {
    const toml::node* node = place.table.node().get(place.key);
    const auto [first, is_new] = seen.emplace(
        properties, std::pair(label, place.table.reading().place(
                                         node == nullptr ? place.table.node() : *node)));
    if (is_new || first->second.first == label) return;
    place.table.refuse(place.key,
                       fmt::format("variant {} has the properties of variant {} ({})", label,
                                   first->second.first, first->second.second),
                       "give one of them another property, or leave it out");
  };
  auto variants = variant != nullptr ? variant->table("variants") : std::nullopt;
  if (variants) {
    for (const auto& [key, node] : variants->node()) {
      const auto found = metadata.variants.find(key.str());
      if (found != metadata.variants.end())
        look_at(found->first, found->second, {*variants, found->first});
    }
  }
  for (const Combination& one : products.combinations)
    look_at(one.label, one.properties, {one.table, one.key});
}

/// An axis of a namespace that nobody knows: there is nothing to add for it.
void refuse_unknown_namespaces(const Products& products, const Json& json) {
  wheel::VariantMetadata stated;
  if (json["providers"].is_object()) {
    for (const auto& [ns, entry] : json["providers"].items()) stated.providers[ns] = {};
  }
  CollectedReport nobody;
  const KnownProperties known(stated, nobody);
  for (Axis axis : products.axes) {
    for (const AxisValue& value : axis.values) {
      wheel::VariantProperties unknown = value.properties;
      std::erase_if(unknown, [&](const wheel::Property& property) {
        return stated.providers.contains(property.ns);
      });
      known.check({axis.table, value.name}, unknown);
    }
  }
}

}  // namespace

std::optional<wheel::VariantMetadata> read_variants(documents::TomlTable& root,
                                                    const Products& products, Report& report) {
  auto variant = root.table("variant");
  documents::TomlReading& reading = root.reading();
  if (reading.error() || (!variant && products.combinations.empty())) return std::nullopt;
  static const toml::table nothing;
  if (variant) {
    refuse_build_requires(*variant);
    refuse_two_meanings(*variant, products);
  }
  if (!variant && namespaces_of(products.axes).empty()) {
    Axis first = products.axes.front();
    first.table.refuse(first.values.front().name, "no value of an axis has properties",
                       "a project without variants needs no axes");
    return std::nullopt;
  }
  Json json = to_json(variant ? variant->node() : nothing);
  add_products(json, products);
  refuse_unknown_namespaces(products, json);
  if (variant) check_priorities(*variant, json);
  if (reading.error()) return std::nullopt;
  const std::string where =
      variant ? fmt::format("{}: [variant]", reading.place(variant->node())) : reading.where();
  auto metadata = wheel::parse_variant_metadata(json.dump(), where, report);
  if (!metadata) {
    reading.refuse(metadata.error());
    return std::nullopt;
  }
  documents::TomlTable* const stated = variant ? &*variant : nullptr;
  check_properties(stated, *metadata, products, report);
  refuse_equals(stated, products, *metadata);
  return std::move(*metadata);
}

}  // namespace axle::builder
