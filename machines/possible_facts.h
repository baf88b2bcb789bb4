#pragma once
// Facts that no machine can have. Known values are possible, and those that the next generation of
// hardware and drivers may add, so that a machine can be described before this program knows it.

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "detect/machine.h"
#include "detect/os/macos.h"

namespace axle::machines {

/// Each returns nullopt for a possible value, else the nearest known ones: "9.0, 8.9".

/// A compute capability, a gfx name (also with target features, "gfx90a:sramecc+:xnack-") or a
/// device IP. Known architectures; for generations that are still sold (compute capability 10 and
/// up, gfx12) also newer steps, and the next generation.
[[nodiscard]] std::optional<std::string> nearest_arch(detect::GpuVendor vendor,
                                                      std::string_view arch);
/// A driver: NVIDIA's branches up to 200 beyond the newest known one; for others any well-formed
/// version. The nearest are those for `system` (as Os::system; empty: Linux).
[[nodiscard]] std::optional<std::string> nearest_driver(detect::GpuVendor vendor,
                                                        std::string_view version,
                                                        std::string_view system = {});
/// The CUDA or ROCm version that a driver runs: up to two major versions beyond the newest known
/// CUDA, and up to ROCm 15.
[[nodiscard]] std::optional<std::string> nearest_api(detect::GpuVendor vendor,
                                                     std::string_view version);
/// "glibc" or "musl", whose major versions are 2 and 1.
[[nodiscard]] std::optional<std::string> nearest_libc(std::string_view family, unsigned major,
                                                      unsigned minor);

/// macOS 10.4 (of 2005) up to 10.15, 11 to 15, 26 and later, with minor versions up to 9, or to the
/// last where a macOS is no longer updated.
[[nodiscard]] std::optional<std::string> nearest_macos(detect::MacosVersion version);

/// "12.8" as numbers; nullopt unless all parts are.
using VersionParts = std::vector<unsigned>;
[[nodiscard]] std::optional<VersionParts> parts_of(std::string_view text);
/// Up to three of `known`, the nearest number first.
[[nodiscard]] std::string nearest_numbers(const VersionParts& parts,
                                          std::vector<std::string> known);

}  // namespace axle::machines
