#pragma once
// x86-64 capabilities: CPUID, and what the operating system has switched on.

#include "detect/host.h"
#include "detect/machine.h"

namespace axle::detect {

/// Fills names, capabilities, hybrid and what is told of AMX and ACE. AMX is `unknown` where the
/// kernel refuses to say; its permission is never asked for, since that is irreversible for the
/// process. `name` is uname's: macOS does not tell of AVX-512 as others do.
void probe_x86(Host& host, Cpu& cpu, const SystemName& name = {});

/// "0-3,8,10-11", as the kernel writes lists of CPUs; broken parts are skipped, at most 4096
/// CPUs.
[[nodiscard]] std::vector<unsigned> parse_cpu_list(std::string_view text);

}  // namespace axle::detect
