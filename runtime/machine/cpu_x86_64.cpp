#include <cpuid.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "runtime/machine/cpu.h"

namespace axle::runtime {
namespace {

constexpr long arch_get_xcomp_supported = 0x1021;
constexpr long arch_request_xcomp_permission = 0x1023;
constexpr long tile_data = 18;

struct CpuidRegisters {
  std::uint32_t eax = 0;
  std::uint32_t ebx = 0;
  std::uint32_t ecx = 0;
  std::uint32_t edx = 0;
};

/// All zero where the leaf or subleaf does not exist.
CpuidRegisters read_leaf(std::uint32_t leaf, std::uint32_t subleaf) {
  CpuidRegisters result;
  if (__get_cpuid_max(leaf & 0x80000000U, nullptr) < leaf) return result;
  if (subleaf > 0) {
    __cpuid_count(leaf, 0, result.eax, result.ebx, result.ecx, result.edx);
    if (result.eax < subleaf) return {};
  }
  __cpuid_count(leaf, subleaf, result.eax, result.ebx, result.ecx, result.edx);
  return result;
}

std::uint64_t read_xcr0() {
  constexpr std::uint32_t osxsave = 1U << 27U;
  if ((read_leaf(1, 0).ecx & osxsave) == 0) return 0;
  std::uint32_t low = 0;
  std::uint32_t high = 0;
  asm volatile("xgetbv" : "=a"(low), "=d"(high) : "c"(0));
  return (std::uint64_t{high} << 32U) | low;
}

bool kernel_offers_tiles() {
  std::uint64_t mask = 0;
  return syscall(SYS_arch_prctl, arch_get_xcomp_supported, &mask) == 0 &&
         ((mask >> tile_data) & 1U) != 0;
}

/// XCR0 components: Intel SDM vol. 1, section 13.1.
bool system_keeps(detect::OsState state) {
  std::uint64_t needed = 0;
  switch (state) {
    case detect::OsState::none:
    case detect::OsState::xmm:
      return true;
    case detect::OsState::ymm:
      needed = 0x6;
      break;
    case detect::OsState::zmm:
      needed = 0xe6;
      break;
    case detect::OsState::tile:
      if (!kernel_offers_tiles()) return false;
      needed = 0x60000;
      break;
    case detect::OsState::apx:
      needed = 0x80000;
      break;
    case detect::OsState::ace:
      needed = 0x160000;
      break;
  }
  return (read_xcr0() & needed) == needed;
}

}  // namespace

bool machine_has(detect::Capability capability) {
  const detect::CapabilityRow& row = detect::row(capability);
  if (row.arch != detect::Arch::x86_64) return false;
  const CpuidRegisters leaf = read_leaf(row.leaf, row.subleaf);
  std::uint32_t word = leaf.eax;
  if (row.reg == detect::CpuidRegister::ebx) word = leaf.ebx;
  if (row.reg == detect::CpuidRegister::ecx) word = leaf.ecx;
  if (row.reg == detect::CpuidRegister::edx) word = leaf.edx;
  return ((word >> row.bit) & 1U) != 0 && system_keeps(row.os_state);
}

bool prefetches_page_by_page() {
  // "GenuineIntel": Intel SDM vol. 2, CPUID leaf 0.
  const CpuidRegisters vendor = read_leaf(0, 0);
  return vendor.ebx == 0x756e6547 && vendor.edx == 0x49656e69 && vendor.ecx == 0x6c65746e;
}

bool request_tile_permission() {
  return syscall(SYS_arch_prctl, arch_request_xcomp_permission, tile_data) == 0;
}

}  // namespace axle::runtime
