#pragma once
// The version of macOS, which decides which wheels run there and whether there is MPS. Os::name has
// it ("macOS 15.1"): of a recorded Mac what kern.osproductversion says, of a stated one what is
// stated.

#include <optional>
#include <string>
#include <utility>

#include "detect/machine.h"

namespace axle::detect {

using MacosVersion = std::pair<unsigned, unsigned>;  ///< {15, 1}, {10, 15}

/// nullopt: another system, or it is not known.
[[nodiscard]] std::optional<MacosVersion> macos_version(const Os& os);

/// Of what the system and the processor are; nullopt unless it is macOS.
[[nodiscard]] std::optional<Mps> judge_mps(const Os& os, const Cpu& cpu);

/// It is judge_mps's answer; otherwise somebody stated it.
[[nodiscard]] bool is_judged(const Mps& mps);

/// Macs with Apple's processors began with it (Apple, macOS Big Sur).
inline constexpr MacosVersion first_macos_on_arm{11, 0};
/// The first macOS with MPS (Apple, "Accelerated PyTorch training on Mac").
inline constexpr MacosVersion first_mps{12, 3};

/// "macOS 15.1"
[[nodiscard]] std::string macos_name(MacosVersion version);

}  // namespace axle::detect
