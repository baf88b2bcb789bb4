#include "foundation/text/byte_size.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <string_view>
#include <system_error>

#include <fmt/format.h>

#include "foundation/text/ascii.h"

namespace axle::text {

std::string render_bytes(std::uint64_t bytes) {
  constexpr std::array<std::string_view, 4> units = {"kB", "MB", "GB", "TB"};
  if (bytes < 1000) return fmt::format("{} B", bytes);
  double size = static_cast<double>(bytes) / 1e3;
  std::size_t unit = 0;
  // A value that would round to 1000 uses the next unit.
  for (; size >= 999.5 && unit + 1 < units.size(); ++unit) size /= 1e3;
  const int decimals = size < 9.995 ? 2 : size < 99.95 ? 1 : 0;
  return fmt::format("{:.{}f} {}", size, decimals, units[unit]);
}

std::string render_memory(std::uint64_t bytes) {
  constexpr std::uint64_t mebibyte = 1ULL << 20;
  constexpr std::uint64_t gibibyte = 1ULL << 30;
  if (bytes >= 4 * gibibyte || (bytes != 0 && bytes % gibibyte == 0))
    return fmt::format("{:.0f} GiB", static_cast<double>(bytes) / static_cast<double>(gibibyte));
  return fmt::format("{} MiB", bytes / mebibyte);
}

std::optional<std::uint64_t> parse_bytes(std::string_view text) {
  struct Unit {
    std::string_view name;
    double bytes;
  };
  constexpr std::array<Unit, 9> units = {{{"", 1},
                                          {"b", 1},
                                          {"kb", 1e3},
                                          {"mb", 1e6},
                                          {"gb", 1e9},
                                          {"tb", 1e12},
                                          {"kib", 1024.0},
                                          {"mib", 1048576.0},
                                          {"gib", 1073741824.0}}};
  const std::string_view trimmed = trim_ascii(text);
  const char* const end = trimmed.data() + trimmed.size();
  double number = 0;
  const auto parsed = std::from_chars(trimmed.data(), end, number, std::chars_format::fixed);
  if (parsed.ec != std::errc()) return std::nullopt;
  const std::string name =
      ascii_lower(trim_ascii({parsed.ptr, static_cast<std::size_t>(end - parsed.ptr)}));
  const auto* const unit = std::ranges::find(units, name, &Unit::name);
  if (unit == units.end()) return std::nullopt;
  constexpr double most = 1e15;
  const double bytes = number * unit->bytes;
  const bool is_size = bytes >= 0 && bytes <= most;
  if (!is_size) return std::nullopt;
  return static_cast<std::uint64_t>(bytes);
}

}  // namespace axle::text
