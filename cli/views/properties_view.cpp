#include "cli/views/properties_view.h"

#include <fmt/core.h>
#include <nlohmann/json.hpp>

namespace axle::cli {

using nlohmann::ordered_json;

std::string render_properties(const session::PropertyLists& lists) {
  std::string text;
  for (const auto& [ns, features] : lists) {
    for (const providers::Feature& feature : features) {
      for (const std::string& value : feature.values)
        text += fmt::format("{} :: {} :: {}\n", ns, feature.name, value);
    }
  }
  return text;
}

ordered_json properties_json(const session::PropertyLists& lists) {
  ordered_json out = ordered_json::object();
  for (const auto& [ns, supported] : lists) {
    ordered_json features = ordered_json::object();
    for (const providers::Feature& feature : supported) features[feature.name] = feature.values;
    out[ns] = std::move(features);
  }
  return out;
}

ordered_json static_lists_json(const session::PropertyLists& lists) {
  ordered_json out = ordered_json::object();
  const ordered_json properties = properties_json(lists);
  for (const auto& [ns, features] : properties.items()) {
    if (features.empty()) continue;
    ordered_json order = ordered_json::array();
    for (const auto& [feature, values] : features.items()) order.push_back(feature);
    out[ns] = {{"static-properties", features}, {"feature-order", std::move(order)}};
  }
  return out;
}

std::string render_static_lists(const session::PropertyLists& lists) {
  // Names and values are words of PEP 825: their JSON form is also TOML.
  std::string text;
  const ordered_json all = static_lists_json(lists);
  for (const auto& [ns, given] : all.items()) {
    text += fmt::format("{}[variant.providers.{}]\nfeature-order = {}\n\n",
                        text.empty() ? "" : "\n", ns, given["feature-order"].dump());
    text += fmt::format("[variant.providers.{}.static-properties]\n", ns);
    for (const auto& [feature, values] : given["static-properties"].items())
      text += fmt::format("{} = {}\n", feature, values.dump());
  }
  return text.empty() ? "# nothing is supported here\n" : text;
}

}  // namespace axle::cli
