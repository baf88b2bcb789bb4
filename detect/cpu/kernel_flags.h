#pragma once
// What the x86 kernel withholds although CPUID has it, by the flags in /proc/cpuinfo. CPUID cannot
// be taken back from programs, so that a feature with an erratum stays in it.

#include <vector>

#include "detect/host.h"

namespace axle::detect {

/// The capabilities whose names this kernel knows and does not list, whether or not the CPU has
/// them. Empty where there is no complete line of flags, and where the kernel is not Linux.
[[nodiscard]] std::vector<Capability> read_withheld_by_kernel(Host& host, const SystemName& name);

}  // namespace axle::detect
