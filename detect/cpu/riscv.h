#pragma once
// riscv64 capabilities: riscv_hwprobe(2), else the letters of AT_HWCAP.

#include "detect/host.h"
#include "detect/machine.h"

namespace axle::detect {

/// Fills vendor, model and capabilities, which are valid for every core (the kernel ANDs them). If
/// the kernel has no riscv_hwprobe (before Linux 6.4), the letters of AT_HWCAP give the base; their
/// V is also set for T-Head's vectors 0.7.1, which do not run V 1.0 code: an instruction that only
/// 1.0 has distinguishes them.
void probe_riscv(Host& host, Cpu& cpu);

}  // namespace axle::detect
