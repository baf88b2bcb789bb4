#include "detect/npu/ascend_facts.h"

#include <algorithm>
#include <cctype>

#include "detect/drivers/driver_lines.h"
#include "detect/text_pieces.h"

namespace axle::detect {
namespace {

constexpr std::size_t longest_version = 32;

std::string_view take_word(std::string_view& text) {
  text = trim(text);
  const std::size_t end = std::min(text.find(' '), text.size());
  const std::string_view word = text.substr(0, end);
  text.remove_prefix(end);
  return word;
}

/// "24.1.rc3", "8.0.RC2.alpha001": letters, digits, dots and similar, a digit first.
std::string version_of(std::string_view text) {
  text = trim(text);
  if (text.empty() || text.size() > longest_version || text[0] < '0' || text[0] > '9') return {};
  const auto fits = [](char c) {
    return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '.' || c == '-' || c == '_';
  };
  return std::ranges::all_of(text, fits) ? std::string(text) : std::string();
}

/// The cells of "| a | b |".
std::vector<std::string_view> cells_of(std::string_view line) {
  std::vector<std::string_view> cells;
  line = trim(line);
  if (!line.starts_with('|')) return cells;
  line.remove_prefix(1);
  while (cells.size() < 8) {
    const std::size_t end = line.find('|');
    if (end == std::string_view::npos) break;
    cells.push_back(trim(line.substr(0, end)));
    line.remove_prefix(end + 1);
  }
  return cells;
}

/// "0     910B3": the first row of a device names it.
std::string name_in(std::string_view cell) {
  const std::string_view number = take_word(cell);
  const std::string_view name = trim(cell);
  const bool row = parse_integer(number).has_value() && !name.empty() &&
                   name.find(' ') == std::string_view::npos && !parse_integer(name).has_value();
  return row ? sanitise(name) : std::string();
}

}  // namespace

AscendTool parse_npu_smi(std::string_view text) {
  AscendTool tool;
  AscendDevice pending;
  while (!text.empty()) {
    const std::string_view line = take_line(text);
    constexpr std::string_view key = "Version:";
    if (const std::size_t at = line.find(key);
        at != std::string_view::npos && tool.version.empty()) {
      std::string_view rest = line.substr(at + key.size());
      tool.version = version_of(take_word(rest));
    }
    // The table of processes follows, with similar rows.
    if (line.find("Process id") != std::string_view::npos) break;
    const auto cells = cells_of(line);
    if (cells.size() < 3) continue;
    const std::string address = normalise_pci_address(cells[1]);
    if (const std::string name = name_in(cells[0]); !name.empty() && address.empty()) {
      pending = {name, sanitise(cells[1]), {}};
    } else if (!address.empty() && !pending.name.empty() && tool.devices.size() < most_devices) {
      tool.devices.push_back({pending.name, pending.health, address});
    }
  }
  return tool;
}

std::string ascend_type_of(std::string_view name) {
  std::string type(name);
  std::ranges::transform(type, type.begin(), [](char c) {
    return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
  });
  if (type.starts_with("ascend") && type.size() > 6) type.erase(0, 6);
  if (type == "910") return "a3";
  if (type.starts_with("910b")) return "910b";
  if (type.starts_with("310p")) return "310p";
  const bool plain = std::ranges::all_of(
      type, [](char c) { return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9'); });
  return plain ? type : std::string();
}

std::string parse_ascend_version(std::string_view text) {
  while (!text.empty()) {
    const std::string_view line = trim(take_line(text));
    for (const std::string_view key : {"version=", "Version="}) {
      if (line.starts_with(key)) return version_of(line.substr(key.size()));
    }
  }
  return {};
}

}  // namespace axle::detect
