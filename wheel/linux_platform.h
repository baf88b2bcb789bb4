#pragma once
// What a platform tag of Linux says.

#include <optional>
#include <string>
#include <string_view>
#include <utility>

namespace axle::wheel {

/// A C library and its version: "manylinux_2_28_x86_64", "manylinux2014_x86_64",
/// "musllinux_1_2_aarch64" (PEPs 513, 571, 599, 600, 656).
struct LinuxPlatform {
  std::string libc;  ///< "glibc" or "musl"
  std::pair<unsigned, unsigned> version;
  std::string architecture;  ///< not empty
};

/// nullopt for everything else, "linux_x86_64" too.
[[nodiscard]] std::optional<LinuxPlatform> parse_linux_platform(std::string_view platform);

}  // namespace axle::wheel
