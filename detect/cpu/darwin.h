#pragma once
// Macs, as macOS describes them through sysctl(3): read from recordings, since this program is not
// built for macOS.

#include "detect/host.h"
#include "detect/machine.h"

namespace axle::detect {

inline constexpr const char* darwin = "Darwin";  ///< SystemName::system

/// Fills names, capabilities and the streaming vector length of an Apple processor. False, with
/// `cpu` unchanged, on a Mac with an Intel processor. A program that Rosetta translates sees an
/// x86-64: the machine is treated as the aarch64 that it is, with the hypervisor "VirtualApple".
/// Features that macOS has no name for remain unknown; Apple's processors have no SVE outside of
/// SME's streaming mode.
[[nodiscard]] bool probe_apple(Host& host, Cpu& cpu);

/// The AVX-512 part of XCR0 on an Intel Mac. The kernel enables those registers at their first use,
/// so XCR0 does not show them; this is reliable since Darwin 21.3 (macOS 12.2), before which
/// signals overwrite the mask registers.
[[nodiscard]] std::uint64_t darwin_zmm_state(Host& host, std::string_view release,
                                             std::uint64_t xcr0);

}  // namespace axle::detect
