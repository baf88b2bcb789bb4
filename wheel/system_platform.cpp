#include "wheel/system_platform.h"

#include <algorithm>
#include <array>
#include <charconv>

#include <fmt/format.h>

namespace axle::wheel {

namespace {

/// Platforms of Windows (sysconfig.get_platform) and what platform.machine() says there.
struct WindowsRow {
  std::string_view architecture, platform, machine;
};

constexpr std::array windows_rows = {WindowsRow{"x86_64", "win_amd64", "AMD64"},
                                     WindowsRow{"aarch64", "win_arm64", "ARM64"},
                                     WindowsRow{"i686", "win32", "x86"}};

constexpr MacVersion first_of_arm{11, 0};
/// Versions come from files: billions must not become billions of tags.
constexpr unsigned highest_major = 255;
/// 10.16 is what macOS 11 calls itself to programs of before.
constexpr unsigned last_minor_of_ten = 16;

/// packaging.tags._mac_binary_formats
std::vector<std::string_view> binary_formats(MacVersion version, std::string_view architecture) {
  std::vector<std::string_view> formats = {architecture};
  const auto add = [&](std::initializer_list<std::string_view> more) {
    formats.insert(formats.end(), more);
  };
  const bool x86_64 = architecture == "x86_64";
  const bool i386 = architecture == "i386";
  const bool ppc64 = architecture == "ppc64";
  const bool ppc = architecture == "ppc";
  if ((x86_64 || i386) && version < MacVersion{10, 4}) return {};
  if (ppc64 && (version > MacVersion{10, 5} || version < MacVersion{10, 4})) return {};
  if (ppc && version > MacVersion{10, 6}) return {};
  if (x86_64) add({"intel", "fat64", "fat3"});
  if (i386) add({"intel", "fat3", "fat"});
  if (ppc64) add({"fat64"});
  if (ppc) add({"fat3", "fat"});
  if (x86_64 || architecture == "arm64") add({"universal2"});
  if (x86_64 || i386 || ppc64 || ppc || architecture == "intel") add({"universal"});
  return formats;
}

}  // namespace

std::optional<SystemPlatform> parse_system_platform(std::string_view platform) {
  const auto* const row = std::ranges::find(windows_rows, platform, &WindowsRow::platform);
  if (row != windows_rows.end())
    return SystemPlatform{windows_system, std::string(row->architecture)};
  constexpr std::string_view prefix = "macosx_";
  if (!platform.starts_with(prefix)) return std::nullopt;
  std::string_view rest = platform.substr(prefix.size());
  const auto number = [&](unsigned& value) {
    const auto [end, error] = std::from_chars(rest.data(), rest.data() + rest.size(), value);
    if (error != std::errc() || end == rest.data() + rest.size() || *end != '_') return false;
    rest.remove_prefix(static_cast<std::size_t>(end - rest.data()) + 1);
    return true;
  };
  MacVersion version;
  if (!number(version.first) || !number(version.second) || rest.empty()) return std::nullopt;
  return SystemPlatform{mac_system, std::string(rest == "arm64" ? "aarch64" : rest), version};
}

std::string machine_name(std::string_view system, std::string_view architecture) {
  if (system == mac_system && architecture == "aarch64") return "arm64";
  const auto* const row = std::ranges::find(windows_rows, architecture, &WindowsRow::architecture);
  const bool windows = system == windows_system && row != windows_rows.end();
  return std::string(windows ? row->machine : architecture);
}

std::vector<std::string> mac_platforms(MacVersion version, std::string_view architecture) {
  std::vector<std::string> platforms;
  const auto add = [&](MacVersion of, const std::vector<std::string_view>& formats) {
    for (const std::string_view format : formats)
      platforms.push_back(fmt::format("macosx_{}_{}_{}", of.first, of.second, format));
  };
  if (version < first_of_arm) {
    if (version.first != 10) return platforms;
    for (unsigned minor = std::min(version.second, highest_major) + 1; minor-- > 0;)
      add({10, minor}, binary_formats({10, minor}, architecture));
    return platforms;
  }
  // Since macOS 11 the major version alone counts.
  for (unsigned major = std::min(version.first, highest_major); major >= first_of_arm.first;
       --major)
    add({major, 0}, binary_formats({major, 0}, architecture));
  // What is older is for Intel, and fat files are named for the oldest system of their parts.
  for (unsigned minor = last_minor_of_ten; minor >= 4; --minor) {
    add({10, minor}, architecture == "x86_64" ? binary_formats({10, minor}, architecture)
                                              : std::vector<std::string_view>{"universal2"});
  }
  return platforms;
}

std::string windows_platform(std::string_view architecture) {
  const auto* const row = std::ranges::find(windows_rows, architecture, &WindowsRow::architecture);
  return row == windows_rows.end() ? std::string() : std::string(row->platform);
}

void put_system_markers(MarkerEnvironment& markers, std::string_view system,
                        std::string_view architecture) {
  const bool windows = system == windows_system;
  const bool mac = system == mac_system;
  markers.strings["os_name"] = windows ? "nt" : "posix";
  markers.strings["sys_platform"] = windows ? "win32" : mac ? "darwin" : "linux";
  markers.strings["platform_system"] = windows || mac ? system : linux_system;
  markers.strings["platform_machine"] = machine_name(system, architecture);
}

void put_cpython_markers(MarkerEnvironment& markers, std::string_view release) {
  markers.strings["python_version"] = release.substr(0, release.rfind('.'));
  markers.strings["python_full_version"] = release;
  markers.strings["implementation_name"] = "cpython";
  markers.strings["implementation_version"] = release;
  markers.strings["platform_python_implementation"] = "CPython";
}

}  // namespace axle::wheel
