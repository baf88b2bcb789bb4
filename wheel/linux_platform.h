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

/// "manylinux2014_x86_64.manylinux_2_17_x86_64" for "manylinux_2_17_x86_64": with the name that the
/// same promise has had since before PEP 600, for pip before 20.3, in the order that PEP 425 asks
/// for. Any other platform stays as it is.
[[nodiscard]] std::string with_old_name(std::string_view platform);

}  // namespace axle::wheel
