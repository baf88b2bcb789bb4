#pragma once
// Every option, variable and configuration key of pip and uv: honoured, refused, of projects, or
// irrelevant for Axle. docs/settings.md is generated from it;
// tests/e2e/settings/settings_table_test.py compares it with pip and uv and fails for a missing
// one.

#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

namespace axle::session {

enum class Treatment : std::uint8_t {
  honoured,
  refused,             ///< ends the command wherever it is set to more than one of `harmless`
  refused_for_builds,  ///< the same with --build; without it nothing is built
  of_projects,         ///< variables that commands on projects alone read: project_variables.h
  irrelevant           ///< cannot change what Axle chooses, from where, or whether it is checked
};

enum class ValueKind : std::uint8_t { flag, value, list };

/// Names in one field are separated by spaces.
struct SettingRow {
  std::string_view key;  ///< in SettingsLayer
  Treatment treatment;
  ValueKind kind;
  std::string_view pip;        ///< long options: each is PIP_… and a key of pip.conf too
  std::string_view uv;         ///< long options of `uv pip install`
  std::string_view variables;  ///< uv's; a last `*` stands for any ending
  /// Keys of uv's files with their type: "no-index:bool pip.find-links:list". Types: string, bool,
  /// list (of strings), any.
  std::string_view keys;
  std::string_view text;           ///< honoured: what it does; refused: what to do; irrelevant: why
  std::string_view harmless = {};  ///< of refused rows: values that ask for nothing
};

[[nodiscard]] std::span<const SettingRow> setting_rows();

[[nodiscard]] std::vector<std::string_view> names_in(std::string_view field);

/// The row with the option `name` of pip or uv, without its dashes; nullptr: neither has it.
[[nodiscard]] const SettingRow* find_pip_setting(std::string_view name);
[[nodiscard]] const SettingRow* find_option_setting(std::string_view name);

struct UvKey {
  const SettingRow* row = nullptr;  ///< nullptr: uv has no such key
  std::string_view type;
};

/// `key`: "no-index", or with its table "pip.no-index".
[[nodiscard]] UvKey find_uv_key(std::string_view key);

}  // namespace axle::session
