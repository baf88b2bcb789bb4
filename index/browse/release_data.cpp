#include "index/browse/release_data.h"

#include <nlohmann/json.hpp>

namespace axle::index {
namespace {

using nlohmann::ordered_json;

std::string dumped(const ordered_json& value) {
  return value.dump(-1, ' ', true, ordered_json::error_handler_t::replace);
}

ordered_json table_of(const std::vector<wheel::FeatureValues>& features) {
  ordered_json rows = ordered_json::array();
  for (const wheel::FeatureValues& one : features)
    rows.push_back(ordered_json::array({one.feature, one.values}));
  return rows;
}

}  // namespace

std::string json_text(std::string_view text) { return dumped(ordered_json(text)); }

std::string release_data(const wheel::VariantMetadata& metadata, const PageMachines& machines) {
  ordered_json data = {{"namespaces", metadata.namespaces}};
  data["origins"] = ordered_json::parse(machines.origins_json(metadata));
  if (!metadata.feature_priorities.empty()) data["features"] = metadata.feature_priorities;
  for (const auto& [ns, features] : metadata.property_priorities)
    data["values"][ns] = table_of(features);
  ordered_json variants = ordered_json::object();
  ordered_json null_labels = ordered_json::array();
  for (const auto& [label, properties] : metadata.variants) {
    ordered_json rows = ordered_json::array();
    for (const wheel::Property& property : properties)
      rows.push_back(ordered_json::array({property.ns, property.feature, property.value}));
    variants[label] = std::move(rows);
    if (properties.empty() && wheel::is_null_variant(metadata, label)) null_labels.push_back(label);
  }
  data["variants"] = std::move(variants);
  data["null"] = std::move(null_labels);
  return dumped(data);
}

}  // namespace axle::index
