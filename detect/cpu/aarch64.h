#pragma once
// aarch64 capabilities, as reported by the kernel in the auxiliary vector.

#include "detect/host.h"
#include "detect/machine.h"

namespace axle::detect {

/// Fills the names, capabilities and vector lengths. What the kernel reports is valid for every
/// core; the names are those of the first.
void probe_aarch64(Host& host, Cpu& cpu);

/// Implementer and part number of a MIDR_EL1 (Arm ARM DDI 0487, D24.2).
struct MidrNames {
  std::string implementer;  ///< "0x41"
  std::string part;         ///< "0xd40"
  friend bool operator==(const MidrNames&, const MidrNames&) = default;
};

/// As in sysfs: "0x00000000410fd4f0" -> "0x41" and "0xd4f"; both empty for anything else.
[[nodiscard]] MidrNames parse_midr(std::string_view text);

}  // namespace axle::detect
