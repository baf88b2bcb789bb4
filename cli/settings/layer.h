#pragma once
// What one place (the command line, the environment, a file) says, before places are weighed
// against each other.

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "cli/settings/settings.h"

namespace axle::cli {

struct SettingsLayer {
  /// Keys are pip's names ("index-url"), uv's where pip has none ("index-strategy"). Values are in
  /// the order in which they were said.
  std::map<std::string, std::vector<Stated>, std::less<>> values;
  std::vector<ConfiguredIndex> indexes;  ///< `[[index]]`, --index, UV_INDEX
  std::vector<PackageSource> sources;

  void add(const std::string& key, std::string value, std::string origin) {
    values[key].push_back({std::move(value), std::move(origin)});
  }
};

/// pip's configuration format: sections [global] and [install], the latter winning; indented lines
/// continue a value. `where` is named in errors. Error: malformed, with the line.
[[nodiscard]] Result<SettingsLayer> parse_pip_config(std::string_view text,
                                                     const std::string& where);

/// uv.toml. Error: malformed, with the line.
[[nodiscard]] Result<SettingsLayer> parse_uv_config(std::string_view text,
                                                    const std::string& where);

/// `URL` or `name=URL`, as uv takes an index.
[[nodiscard]] ConfiguredIndex parse_index(std::string_view text, std::string origin);

[[nodiscard]] std::vector<std::string> split_words(std::string_view text);

}  // namespace axle::cli
