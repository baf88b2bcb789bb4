#pragma once
// x86-64 capabilities: CPUID, and what the operating system has enabled.

#include "detect/host.h"
#include "detect/machine.h"

namespace axle::detect {

/// Fills names, capabilities, hybrid and the details of AMX and ACE. AMX is `unknown` if the kernel
/// does not allow the query; its permission is never requested, since that is irreversible for the
/// process. `name` is uname's: macOS reports AVX-512 differently.
void probe_x86(Host& host, Cpu& cpu, const SystemName& name = {});

/// "0-3,8,10-11", the kernel's format for lists of CPUs; invalid parts are skipped, at most 4096
/// CPUs.
[[nodiscard]] std::vector<unsigned> parse_cpu_list(std::string_view text);

}  // namespace axle::detect
