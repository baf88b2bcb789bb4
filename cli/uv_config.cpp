// uv's configuration file, as far as it says where packages come from.
#include <fmt/core.h>
#include <toml++/toml.h>

#include "cli/index_settings.h"

namespace axle::cli {

namespace {

void take_strings(const toml::node* node, std::vector<std::string>& out) {
  if (node == nullptr) return;
  if (const auto text = node->value<std::string>()) out.push_back(*text);
  if (const toml::array* array = node->as_array()) {
    for (const toml::node& element : *array) take_strings(&element, out);
  }
}

void take(const toml::table& table, const char* key, SettingsLayer& layer) {
  std::vector<std::string> values;
  take_strings(table.get(key), values);
  if (!values.empty()) layer.values[key] = std::move(values);
}

/// [[index]]: the one marked `default` is the index, the others are extra.
void take_indexes(const toml::table& table, SettingsLayer& layer) {
  const toml::array* indexes = table["index"].as_array();
  if (indexes == nullptr) return;
  for (const toml::node& node : *indexes) {
    const toml::table* index = node.as_table();
    if (index == nullptr) continue;
    const auto url = (*index)["url"].value<std::string>();
    if (!url || (*index)["explicit"].value_or(false)) continue;
    layer.values[(*index)["default"].value_or(false) ? "index-url" : "extra-index-url"].push_back(
        *url);
  }
}

}  // namespace

Result<SettingsLayer> parse_uv_config(std::string_view text, std::string where) {
  SettingsLayer layer{where, {}};
  try {
    const toml::table table = toml::parse(text, where);
    for (const toml::table* place : {&table, table["pip"].as_table()}) {
      if (place == nullptr) continue;
      take(*place, "index-url", layer);
      take(*place, "extra-index-url", layer);
      take(*place, "find-links", layer);
      if ((*place)["no-index"].value_or(false)) layer.values["no-index"] = {"true"};
      take_indexes(*place, layer);
    }
  } catch (const toml::parse_error& error) {
    return fail(ErrorKind::malformed, fmt::format("{}:{}: {}", where, error.source().begin.line,
                                                  std::string(error.description())));
  }
  return layer;
}

}  // namespace axle::cli
