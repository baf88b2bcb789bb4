// uv's configuration file.
#include <fmt/core.h>
#include <toml++/toml.h>

#include "cli/settings/layer.h"

namespace axle::cli {

namespace {

void take_strings(const toml::node* node, const std::string& key, const std::string& origin,
                  SettingsLayer& layer) {
  if (node == nullptr) return;
  if (const auto text = node->value<std::string>()) layer.add(key, *text, origin);
  if (const toml::array* array = node->as_array()) {
    for (const toml::node& element : *array) take_strings(&element, key, origin, layer);
  }
}

/// [[index]]
void take_indexes(const toml::table& table, const std::string& where, SettingsLayer& layer) {
  const toml::array* indexes = table["index"].as_array();
  if (indexes == nullptr) return;
  for (const toml::node& node : *indexes) {
    const toml::table* index = node.as_table();
    if (index == nullptr) continue;
    const auto url = (*index)["url"].value<std::string>();
    if (!url) continue;
    layer.indexes.push_back({(*index)["name"].value_or(std::string()), *url,
                             (*index)["default"].value_or(false),
                             (*index)["explicit"].value_or(false),
                             fmt::format("{}:{}", where, node.source().begin.line)});
  }
}

}  // namespace

Result<SettingsLayer> parse_uv_config(std::string_view text, const std::string& where) {
  SettingsLayer layer;
  try {
    const toml::table table = toml::parse(text, where);
    for (const toml::table* place : {&table, table["pip"].as_table()}) {
      if (place == nullptr) continue;
      for (const char* key : {"index-url", "extra-index-url", "find-links"})
        take_strings(place->get(key), key, where, layer);
      if ((*place)["no-index"].value_or(false)) layer.values["no-index"] = {{"true", where}};
      take_indexes(*place, where, layer);
    }
  } catch (const toml::parse_error& error) {
    return fail(ErrorKind::malformed, fmt::format("{}:{}: {}", where, error.source().begin.line,
                                                  std::string(error.description())));
  }
  return layer;
}

}  // namespace axle::cli
