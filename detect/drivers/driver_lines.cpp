#include "detect/drivers/driver_lines.h"

#include <array>
#include <charconv>
#include <cstdio>

namespace axle::detect {
namespace {

constexpr std::size_t most_lines = 4096;
constexpr std::size_t most_fields = 16;

/// The number in `text`, which must consist of hexadecimal digits, or nullopt.
std::optional<std::uint32_t> parse_hex(std::string_view text) {
  std::uint32_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value, 16);
  if (error != std::errc{} || end != text.data() + text.size()) return std::nullopt;
  return value;
}

DriverLine parse_line(std::string_view text) {
  DriverLine line;
  bool first = true;
  while (line.fields.size() < most_fields) {
    const std::size_t tab = text.find('\t');
    std::string part = sanitise(text.substr(0, tab), longest_field);
    if (first) {
      line.word = std::move(part);
    } else {
      line.fields.push_back(std::move(part));
    }
    first = false;
    if (tab == std::string_view::npos) break;
    text.remove_prefix(tab + 1);
  }
  return line;
}

}  // namespace

std::string_view DriverLine::field(std::size_t index) const {
  return index < fields.size() ? std::string_view(fields[index]) : std::string_view();
}

std::string sanitise(std::string_view text, std::size_t longest) {
  std::string result(text.substr(0, longest));
  for (char& c : result) {
    if (c < ' ' || c > '~') c = '?';
  }
  return result;
}

std::vector<DriverLine> parse_driver_lines(std::string_view text) {
  std::vector<DriverLine> lines;
  while (lines.size() < most_lines) {
    const std::size_t end = text.find('\n');
    if (end == std::string_view::npos) break;
    if (end > 0) lines.push_back(parse_line(text.substr(0, end)));
    text.remove_prefix(end + 1);
  }
  return lines;
}

std::optional<std::int64_t> parse_integer(std::string_view text) {
  const int base = text.starts_with("0x") ? 16 : 10;
  if (base == 16) text.remove_prefix(2);
  if (text.empty() || (base == 16 && text[0] == '-')) return std::nullopt;
  std::int64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value, base);
  if (error != std::errc{} || end != text.data() + text.size()) return std::nullopt;
  return value;
}

std::string normalise_pci_address(std::string_view text) {
  const std::size_t first = text.find(':');
  const std::size_t second = text.find(':', first == std::string_view::npos ? first : first + 1);
  const std::size_t dot = text.find('.', second == std::string_view::npos ? second : second + 1);
  if (first == std::string_view::npos || second == std::string_view::npos ||
      dot == std::string_view::npos || first > 8) {
    return {};
  }
  const auto domain = parse_hex(text.substr(0, first));
  const auto bus = parse_hex(text.substr(first + 1, second - first - 1));
  const auto device = parse_hex(text.substr(second + 1, dot - second - 1));
  const auto function = parse_hex(text.substr(dot + 1));
  if (!domain || !bus || !device || !function) return {};
  if (*bus > 0xFF || *device > 0x1F || *function > 7) return {};
  std::array<char, 32> address;
  std::snprintf(address.data(), address.size(), "%04x:%02x:%02x.%x", *domain, *bus, *device,
                *function);
  return address.data();
}

}  // namespace axle::detect
