// ppc64le, riscv64 and s390x: the kernel reports everything that is needed.
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "detect/cpu/registers.h"

namespace axle::detect {

Arch native_arch() {
#if defined(__powerpc64__) && defined(__LITTLE_ENDIAN__)
  return Arch::ppc64le;
#elif defined(__riscv) && __riscv_xlen == 64
  return Arch::riscv64;
#elif defined(__s390x__)
  return Arch::s390x;
#else
  return Arch::other;
#endif
}

std::optional<CpuidLeaf> read_cpuid(std::uint32_t, std::uint32_t) { return std::nullopt; }

std::uint64_t read_xcr0() { return 0; }

std::optional<std::uint64_t> read_xcomp(XcompQuery) { return std::nullopt; }

std::optional<unsigned> read_sve_vector_bytes() { return std::nullopt; }

std::optional<unsigned> read_sme_vector_bytes() { return std::nullopt; }

#ifdef __riscv

std::optional<std::uint64_t> read_riscv_hwprobe(std::int64_t key) {
  constexpr long sys_riscv_hwprobe = 258;  // Linux uapi asm/unistd.h; not in headers before 6.4
  struct {
    std::int64_t key;
    std::uint64_t value;
  } pair{key, 0};
  // Without a CPU set: what all online CPUs have. The kernel returns key -1 for an unknown key.
  if (::syscall(sys_riscv_hwprobe, &pair, 1UL, 0UL, nullptr, 0U) != 0) return std::nullopt;
  if (pair.key != key) return std::nullopt;
  return pair.value;
}

std::optional<std::uint64_t> read_riscv_vtype() {
  // Linux uapi linux/prctl.h: since 6.5 vectors can be disabled for a process, and then trap.
  constexpr int get_vector_control = 70;
  constexpr int control_mask = 3;
  constexpr int vectors_off = 1;
  const int control = ::prctl(get_vector_control, 0, 0, 0, 0);
  if (control >= 0 && (control & control_mask) == vectors_off) return std::nullopt;
  std::uint64_t vtype = 0;
  // vsetvli t0, zero, e8, m1, ta, ma as a word, since this file is compiled without vectors.
  asm volatile(
      ".word 0x0C0072D7\n\t"
      "csrr %0, 0xC21"
      : "=r"(vtype)
      :
      : "t0");
  return vtype;
}

#else

std::optional<std::uint64_t> read_riscv_hwprobe(std::int64_t) { return std::nullopt; }

std::optional<std::uint64_t> read_riscv_vtype() { return std::nullopt; }

#endif

}  // namespace axle::detect
