#include "session/settings/setting_table.h"

#include <algorithm>
#include <array>

#include "session/settings/setting_rows.h"

namespace axle::session {

namespace {

constexpr bool has_name(std::string_view field, std::string_view name) {
  while (!field.empty()) {
    const std::size_t end = std::min(field.find(' '), field.size());
    if (field.substr(0, end) == name) return true;
    field.remove_prefix(std::min(end + 1, field.size()));
  }
  return false;
}

}  // namespace

std::span<const SettingRow> setting_rows() { return setting_row_table; }

std::vector<std::string_view> names_in(std::string_view field) {
  std::vector<std::string_view> names;
  while (!field.empty()) {
    const std::size_t end = std::min(field.find(' '), field.size());
    if (end > 0) names.push_back(field.substr(0, end));
    field.remove_prefix(std::min(end + 1, field.size()));
  }
  return names;
}

const SettingRow* find_pip_setting(std::string_view name) {
  const auto found = std::ranges::find_if(
      setting_rows(), [&](const SettingRow& row) { return has_name(row.pip, name); });
  return found == setting_rows().end() ? nullptr : &*found;
}

const SettingRow* find_option_setting(std::string_view name) {
  if (const SettingRow* row = find_pip_setting(name)) return row;
  const auto found = std::ranges::find_if(
      setting_rows(), [&](const SettingRow& row) { return has_name(row.uv, name); });
  return found == setting_rows().end() ? nullptr : &*found;
}

UvKey find_uv_key(std::string_view key) {
  for (const SettingRow& row : setting_rows()) {
    for (const std::string_view entry : names_in(row.keys)) {
      const std::size_t colon = entry.find(':');
      if (entry.substr(0, colon) == key) return {&row, entry.substr(colon + 1)};
    }
  }
  return {};
}

}  // namespace axle::session
