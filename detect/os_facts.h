#pragma once
// Operating system and C library.

#include <string>
#include <string_view>

#include "detect/host.h"
#include "detect/machine.h"

namespace axle::detect {

/// PRETTY_NAME of an os-release file (os-release(5)), quotes and escapes taken off; else NAME and
/// VERSION_ID; else empty.
[[nodiscard]] std::string parse_os_release(std::string_view text);

/// "glibc 2.36" -> glibc 2.36; an empty family for anything else.
[[nodiscard]] Libc parse_glibc_version(std::string_view text);

/// What musl's loader prints when started alone ("musl libc (x86_64)\nVersion 1.2.3\n…").
[[nodiscard]] Libc parse_musl_banner(std::string_view text);

[[nodiscard]] Os probe_os(Host& host, const SystemName& name);
[[nodiscard]] Libc probe_libc(Host& host);

}  // namespace axle::detect
