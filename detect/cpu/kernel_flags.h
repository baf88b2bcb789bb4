#pragma once
// Features that the x86 kernel withholds although CPUID reports them, according to the flags in
// /proc/cpuinfo. The kernel cannot hide CPUID from programs, so a feature with an erratum is still
// reported there.

#include <vector>

#include "detect/host.h"

namespace axle::detect {

/// The capabilities whose names this kernel knows and does not list, whether or not the CPU has
/// them. Empty without a complete line of flags, and if the kernel is not Linux.
[[nodiscard]] std::vector<Capability> read_withheld_by_kernel(Host& host, const SystemName& name);

}  // namespace axle::detect
