#pragma once
// Operating system and C library.

#include <string>
#include <string_view>

#include "detect/host.h"
#include "detect/machine.h"

namespace axle::detect {

/// PRETTY_NAME of an os-release file (os-release(5)), without quotes and escapes; else NAME and
/// VERSION_ID; else empty.
[[nodiscard]] std::string parse_os_release(std::string_view text);

/// "glibc 2.36" -> glibc 2.36; an empty family for anything else.
[[nodiscard]] Libc parse_glibc_version(std::string_view text);

/// The output of musl's loader when started without arguments ("musl libc (x86_64)\nVersion
/// 1.2.3\n…").
[[nodiscard]] Libc parse_musl_banner(std::string_view text);

/// Jetson Linux in /etc/nv_tegra_release: "# R36 (release), REVISION: 4.3, …" -> "36.4.3"; empty
/// for anything else.
[[nodiscard]] std::string parse_tegra_release(std::string_view text);

/// Whether it is the kernel that Microsoft builds for the Windows Subsystem for Linux, by its
/// release: "5.15.153.1-microsoft-standard-WSL2", "4.4.0-19041-Microsoft".
[[nodiscard]] bool is_wsl_kernel(std::string_view release);

/// Every fact with its source in Os::sources and Libc::sources.
[[nodiscard]] Os probe_os(Host& host, const SystemName& name);
[[nodiscard]] Libc probe_libc(Host& host);

}  // namespace axle::detect
