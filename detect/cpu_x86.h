#pragma once
// x86-64 capabilities: CPUID, and what the operating system has switched on.

#include "detect/host.h"
#include "detect/machine.h"

namespace axle::detect {

/// Fills names, capabilities, hybrid and amx_permitted. AMX is `unknown` where the kernel refuses
/// to say; its permission is never asked for, since that is irreversible for the process.
void probe_x86(Host& host, Cpu& cpu);

/// "0-3,8,10-11", as the kernel writes lists of CPUs; broken parts are passed over, at most 4096
/// CPUs.
[[nodiscard]] std::vector<unsigned> parse_cpu_list(std::string_view text);

}  // namespace axle::detect
