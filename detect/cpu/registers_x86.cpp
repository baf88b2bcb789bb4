#include <cpuid.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "detect/cpu/registers.h"

namespace axle::detect {

Arch native_arch() { return Arch::x86_64; }

std::optional<CpuidLeaf> read_cpuid(std::uint32_t leaf, std::uint32_t subleaf) {
  CpuidLeaf result;
  __cpuid_count(leaf, subleaf, result.eax, result.ebx, result.ecx, result.edx);
  return result;
}

std::uint64_t read_xcr0() {
  std::uint32_t low = 0;
  std::uint32_t high = 0;
  asm volatile("xgetbv" : "=a"(low), "=d"(high) : "c"(0));
  return (std::uint64_t{high} << 32U) | low;
}

std::optional<std::uint64_t> read_xcomp(XcompQuery query) {
  std::uint64_t mask = 0;
  if (::syscall(SYS_arch_prctl, static_cast<std::uint32_t>(query), &mask) != 0) return std::nullopt;
  return mask;
}

std::optional<unsigned> read_sve_vector_bytes() { return std::nullopt; }

std::optional<unsigned> read_sme_vector_bytes() { return std::nullopt; }

std::optional<std::uint64_t> read_riscv_hwprobe(std::int64_t) { return std::nullopt; }

std::optional<std::uint64_t> read_riscv_vtype() { return std::nullopt; }

}  // namespace axle::detect
