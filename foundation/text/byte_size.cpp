#include "foundation/text/byte_size.h"

#include <array>
#include <string_view>

#include <fmt/format.h>

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

}  // namespace axle::text
