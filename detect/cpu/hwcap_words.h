#pragma once
// Capabilities as the kernel tells them in the auxiliary vector (getauxval(3)): aarch64, ppc64le
// and s390x. The kernel's words hold for every core, and for what it has switched on.

#include "detect/host.h"
#include "detect/machine.h"

namespace axle::detect {

/// Fills every row of `arch`. Those of a word that an old kernel or C library does not give
/// stay unknown, with the reason in `cpu.sources`.
void read_hwcap_words(Host& host, Arch arch, Cpu& cpu);

}  // namespace axle::detect
