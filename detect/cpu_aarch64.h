#pragma once
// aarch64 capabilities, as the kernel tells them in the auxiliary vector.

#include "detect/host.h"
#include "detect/machine.h"

namespace axle::detect {

/// Fills vendor, capabilities and sve_vector_bytes. The kernel's words hold for every core.
void probe_aarch64(Host& host, Cpu& cpu);

/// The implementer in a MIDR_EL1 as sysfs prints it: "0x00000000410fd4f0" -> "0x41"; empty for
/// none.
[[nodiscard]] std::string parse_midr_implementer(std::string_view text);

}  // namespace axle::detect
