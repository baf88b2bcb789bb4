#pragma once
// Capabilities that the kernel reports in the auxiliary vector (getauxval(3)): aarch64, ppc64le and
// s390x. They are valid for every core, and cover what the kernel has enabled.

#include "detect/host.h"
#include "detect/machine.h"

namespace axle::detect {

/// Fills every row of `arch`. Rows of a word that an old kernel or C library does not have remain
/// unknown, with the reason in `cpu.sources`.
void read_hwcap_words(Host& host, Arch arch, Cpu& cpu);

}  // namespace axle::detect
