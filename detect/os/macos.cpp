#include "detect/os/macos.h"

#include <charconv>
#include <string_view>

#include "detect/cpu/darwin.h"

namespace axle::detect {

namespace {

constexpr std::string_view product = "macOS ";

}  // namespace

std::optional<MacosVersion> macos_version(const Os& os) {
  if (os.system != darwin || !os.name.starts_with(product)) return std::nullopt;
  const char* const begin = os.name.data() + product.size();
  const char* const end = os.name.data() + os.name.size();
  MacosVersion version;
  const auto major = std::from_chars(begin, end, version.first);
  if (major.ec != std::errc()) return std::nullopt;
  if (major.ptr == end) return version;
  if (*major.ptr != '.') return std::nullopt;
  const auto minor = std::from_chars(major.ptr + 1, end, version.second);
  if (minor.ec != std::errc()) return std::nullopt;
  return version;
}

std::string macos_name(MacosVersion version) {
  return std::string(product) + std::to_string(version.first) + "." +
         std::to_string(version.second);
}

}  // namespace axle::detect
