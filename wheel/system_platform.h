#pragma once
// Windows and macOS beside Linux: their platform tags, as `packaging.tags` of 26.3 makes them, and
// the markers of each system and of an interpreter that is stated (PEP 508).

#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "wheel/marker.h"

namespace axle::wheel {

/// As platform.system() names them.
inline constexpr std::string_view linux_system = "Linux";
inline constexpr std::string_view windows_system = "Windows";
inline constexpr std::string_view mac_system = "Darwin";

using MacVersion = std::pair<unsigned, unsigned>;  ///< {14, 0}, {10, 15}

/// What a platform tag of Windows or macOS says: "win_amd64", "macosx_14_0_arm64".
struct SystemPlatform {
  std::string_view system;  ///< windows_system or mac_system
  /// As Linux calls it: "x86_64", "aarch64", "i686"; of macOS also a format for several: "intel",
  /// "universal2", ….
  std::string architecture;
  MacVersion version = {};  ///< the oldest that it runs on; of macOS only
};

/// nullopt for everything else.
[[nodiscard]] std::optional<SystemPlatform> parse_system_platform(std::string_view platform);

/// The architecture as the markers and platform tags of `system` spell it: "arm64" of macOS,
/// "AMD64" of Windows.
[[nodiscard]] std::string machine_name(std::string_view system, std::string_view architecture);

/// packaging.tags.mac_platforms: what runs on macOS of that version, best first. `architecture` as
/// in tags: "arm64", "x86_64", or a format. Major versions count up to 255.
[[nodiscard]] std::vector<std::string> mac_platforms(MacVersion version,
                                                     std::string_view architecture);
/// "win_amd64", "win_arm64" or "win32"; empty for an architecture that Windows is not made for.
[[nodiscard]] std::string windows_platform(std::string_view architecture);

/// os_name, sys_platform, platform_system and platform_machine of an interpreter on `system`;
/// `architecture` as Linux calls it.
void put_system_markers(MarkerEnvironment& markers, std::string_view system,
                        std::string_view architecture);

/// python_version, python_full_version, implementation_name, implementation_version and
/// platform_python_implementation of a CPython; `release`: "3.12.4".
void put_cpython_markers(MarkerEnvironment& markers, std::string_view release);

}  // namespace axle::wheel
