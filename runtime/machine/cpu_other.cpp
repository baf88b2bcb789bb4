// Architectures whose capabilities the kernel tells in the auxiliary vector (getauxval(3)).

#include <sys/auxv.h>

#include "runtime/machine/cpu.h"

namespace axle::runtime {
namespace {

#if defined(__aarch64__)
constexpr detect::Arch own = detect::Arch::aarch64;
#elif defined(__powerpc64__)
constexpr detect::Arch own = detect::Arch::ppc64le;
#elif defined(__s390x__)
constexpr detect::Arch own = detect::Arch::s390x;
#else
constexpr detect::Arch own = detect::Arch::other;
#endif

/// Linux uapi/linux/auxvec.h: AT_HWCAP, AT_HWCAP2, AT_HWCAP3, by the table's `word` less 1.
constexpr unsigned long words[] = {16, 26, 29};

}  // namespace

bool machine_has(detect::Capability capability) {
  const detect::CapabilityRow& row = detect::row(capability);
  if (row.arch != own || row.word < 1 || row.word > 3) return false;
  return ((getauxval(words[row.word - 1]) >> row.bit) & 1U) != 0;
}

bool prefetches_page_by_page() { return false; }

bool request_tile_permission() { return false; }

}  // namespace axle::runtime
