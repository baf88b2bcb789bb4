#include <string>
#include <utility>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "wheel/variant/variant_metadata.h"
#include "wheel/variant/variant_schema.h"

namespace axle::wheel {
namespace {

using Json = nlohmann::ordered_json;

constexpr const char* draft_schema_url = "https://variants-schema.wheelnext.dev/v0.0.3.json";

Json render_lists(const std::vector<FeatureValues>& features) {
  Json lists = Json::object();
  for (const FeatureValues& entry : features) lists[entry.feature] = entry.values;
  return lists;
}

Json render_draft_provider(const ProviderInfo& provider) {
  Json table = Json::object();
  if (!provider.requires_.empty() || provider.install_time) table["requires"] = provider.requires_;
  if (!provider.plugin_api.empty()) table["plugin-api"] = provider.plugin_api;
  if (!provider.enable_if.empty()) table["enable-if"] = provider.enable_if;
  if (provider.optional) table["optional"] = true;
  if (!provider.install_time) table["install-time"] = false;
  return table;
}

Json render_priorities(const VariantMetadata& metadata) {
  Json priorities = Json::object();
  priorities["namespace"] = metadata.namespaces;
  for (const auto& [ns, features] : metadata.feature_priorities) {
    if (!features.empty()) priorities["feature"][ns] = features;
  }
  for (const auto& [ns, lists] : metadata.property_priorities) {
    if (!lists.empty()) priorities["property"][ns] = render_lists(lists);
  }
  return priorities;
}

}  // namespace

Result<std::string> render_draft_metadata(const VariantMetadata& metadata) {
  const auto version = parse_schema_version(metadata.schema_version);
  if (!version || !version->is_draft()) {
    return fail(
        ErrorKind::unsupported,
        fmt::format("variant metadata of version {} is none of 0.0.x", metadata.schema_version));
  }
  Json root = Json::object();
  root["$schema"] = draft_schema_url;
  root["default-priorities"] = render_priorities(metadata);
  root["providers"] = Json::object();
  for (const auto& [ns, provider] : metadata.providers) {
    root["providers"][ns] = render_draft_provider(provider);
    if (provider.static_properties)
      root["static-properties"][ns] = render_lists(*provider.static_properties);
  }
  Json& variants = root["variants"] = Json::object();
  for (const auto& [label, properties] : metadata.variants) {
    Json& table = variants[label] = Json::object();
    for (const Property& property : properties)
      table[property.ns][property.feature].push_back(property.value);
  }
  std::string text = root.dump(2, ' ', true, Json::error_handler_t::replace) + "\n";
  CollectedReport remarks;
  const auto parsed = parse_variant_metadata(text, "variant metadata to be written", remarks);
  if (!parsed) return std::unexpected(parsed.error());
  return text;
}

}  // namespace axle::wheel
