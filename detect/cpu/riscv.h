#pragma once
// riscv64 capabilities: riscv_hwprobe(2), else the letters of AT_HWCAP.

#include "detect/host.h"
#include "detect/machine.h"

namespace axle::detect {

/// Fills vendor, model and capabilities, which hold for every core (the kernel ANDs them). Where
/// the kernel has no riscv_hwprobe (before Linux 6.4) the letters of AT_HWCAP say what the base is;
/// their V is also set for the vectors 0.7.1 of T-Head, which run no V 1.0 code: an instruction
/// that only those of 1.0 know tells them apart.
void probe_riscv(Host& host, Cpu& cpu);

}  // namespace axle::detect
