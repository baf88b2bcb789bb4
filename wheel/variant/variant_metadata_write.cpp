#include <string>
#include <utility>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "foundation/text/quote.h"
#include "wheel/variant/variant_metadata.h"
#include "wheel/variant/variant_schema.h"

namespace axle::wheel {
namespace {

using Json = nlohmann::ordered_json;

std::string_view schema_url(MetadataForm form) {
  switch (form) {
    case MetadataForm::pep850:
      return "https://variants-schema.wheelnext.dev/peps/850/v0.2.0.json";
    case MetadataForm::variantlib:
      return "https://variants-schema.wheelnext.dev/v0.2.0.json";
  }
  return "";
}

/// What of `provider` 0.2.0 has no words for; empty when it can be written.
std::string provider_obstacle(const ProviderInfo& provider) {
  const int kinds = int{!provider.requires_.empty()} + int{provider.static_properties.has_value()} +
                    int{!provider.builtin.empty()};
  if (!provider.enable_if.empty()) return "has \"enable-if\"";
  if (!provider.install_time && !provider.static_properties) {
    return "takes its lists from the property priorities";
  }
  if (kinds != 1) {
    return "does not have exactly one of \"requires\", \"static-properties\" and \"builtin\"";
  }
  if (!provider.plugin_api.empty() && provider.requires_.empty()) {
    return "has \"plugin-api\" without \"requires\"";
  }
  return {};
}

template <class Tables>
bool has_content(const Tables& tables) {
  for (const auto& [ns, table] : tables) {
    if (!table.empty()) return true;
  }
  return false;
}

std::string obstacle(const VariantMetadata& metadata) {
  if (has_content(metadata.feature_priorities) || has_content(metadata.property_priorities)) {
    return "feature or property priorities";
  }
  for (const std::string& ns : metadata.namespaces) {
    if (!metadata.providers.contains(ns)) {
      return fmt::format("the namespace {}, which has no provider", text::quote(ns));
    }
  }
  for (const auto& [ns, provider] : metadata.providers) {
    if (const auto problem = provider_obstacle(provider); !problem.empty()) {
      return fmt::format("the provider {}, which {}", text::quote(ns), problem);
    }
  }
  for (const auto& [label, properties] : metadata.variants) {
    if (label != null_label && properties.empty()) {
      return fmt::format("the label {} for a variant without properties", text::quote(label));
    }
  }
  return {};
}

Json render_provider(const ProviderInfo& provider) {
  Json table = Json::object();
  if (provider.optional) table["optional"] = true;
  if (!provider.requires_.empty()) table["requires"] = provider.requires_;
  if (provider.static_properties) {
    Json& lists = table["static-properties"] = Json::object();
    Json order = Json::array();
    for (const FeatureValues& entry : *provider.static_properties) {
      lists[entry.feature] = entry.values;
      order.push_back(entry.feature);
    }
    if (order.size() >= 2) table["feature-order"] = std::move(order);
  }
  if (!provider.builtin.empty()) table["builtin"] = provider.builtin;
  if (!provider.plugin_api.empty()) table["plugin-api"] = provider.plugin_api;
  return table;
}

Json render_properties(const VariantProperties& properties) {
  Json table = Json::object();
  for (const Property& property : properties) {
    table[property.ns][property.feature].push_back(property.value);
  }
  return table;
}

}  // namespace

Result<std::string> render_variant_metadata(const VariantMetadata& metadata, MetadataForm form) {
  if (const auto problem = obstacle(metadata); !problem.empty()) {
    return fail(
        ErrorKind::unsupported,
        fmt::format("version 0.2.0 of variant metadata cannot express what version {} does: {}",
                    metadata.schema_version, problem),
        "build the wheel again with providers that name a plugin or static properties");
  }
  Json root = Json::object();
  root["$schema"] = schema_url(form);
  root["default-priorities"]["namespace"] = metadata.namespaces;
  Json& providers = root["providers"] = Json::object();
  for (const std::string& ns : metadata.namespaces) {
    providers[ns] = render_provider(metadata.providers.find(ns)->second);
  }
  Json& variants = root["variants"] = Json::object();
  for (const auto& [label, properties] : metadata.variants) {
    variants[label] = render_properties(properties);
  }
  // Metadata put together in memory may break the rules of the format: what this room writes it
  // reads.
  std::string text = root.dump(2, ' ', true, Json::error_handler_t::replace) + "\n";
  CollectedReport remarks;
  const auto parsed = parse_variant_metadata(text, "variant metadata to be written", remarks);
  if (!parsed) return std::unexpected(parsed.error());
  return text;
}

}  // namespace axle::wheel
