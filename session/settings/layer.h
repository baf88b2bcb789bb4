#pragma once
// The settings from one source (the command line, the environment, a file), before the sources are
// combined.

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "session/settings/setting_table.h"
#include "session/settings/settings.h"

namespace axle::session {

struct SettingsLayer {
  /// Row keys of the setting table; values in the order given.
  std::map<std::string, std::vector<Stated>, std::less<>> values;
  std::vector<ConfiguredIndex> indexes;  ///< `[[index]]`
  std::vector<PackageSource> sources;
  /// A file of uv's, or Axle's: its keys know no order.
  bool of_uv = false;

  void add(std::string_view key, std::string value, std::string origin, unsigned turn = 0) {
    values[std::string(key)].push_back({std::move(value), std::move(origin), turn});
  }
};

/// pip.conf by section. For each key the value as written, lines joined by "\n".
using PipSections = std::map<std::string, std::map<std::string, Stated, std::less<>>, std::less<>>;

/// Follows Python's configparser as pip configures it, including what it rejects. `where` is named
/// in errors. Error: malformed, with the line.
[[nodiscard]] Result<PipSections> parse_pip_config(std::string_view text, const std::string& where);
/// The same for another program whose files have this form: `kind` as in "pip configuration", `who`
/// as in "pip". Keys are spelled as pip's: `aws_access_key_id` is "aws-access-key-id".
[[nodiscard]] Result<PipSections> parse_config_of(std::string_view kind, std::string_view who,
                                                  std::string_view text, const std::string& where);

/// `name`: a long option of pip; unknown ones are ignored. Flags are unchanged, lists are split
/// at white space, empty values are unset.
void add_pip_setting(SettingsLayer& layer, std::string_view name, const Stated& stated);

/// A whole uv.toml, or the `[tool.uv]` of a pyproject.toml. Paths are relative to its folder.
/// Error: malformed, with the line.
[[nodiscard]] Result<SettingsLayer> parse_uv_config(std::string_view text,
                                                    const std::string& where);
[[nodiscard]] Result<SettingsLayer> parse_pyproject_config(std::string_view text,
                                                           const std::string& where);

/// `URL` or `name=URL`, the forms that uv accepts for an index.
[[nodiscard]] ConfiguredIndex parse_index(std::string_view text, std::string origin);

/// pip's two format lists, to which each section and variable adds; later entries override earlier
/// ones.
[[nodiscard]] constexpr bool is_format(std::string_view key) {
  return key == "no-binary" || key == "only-binary";
}

[[nodiscard]] std::vector<std::string> split_words(std::string_view text);

}  // namespace axle::session
