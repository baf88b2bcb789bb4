#include <sys/prctl.h>

#include "detect/cpu/registers.h"

namespace axle::detect {

Arch native_arch() { return Arch::aarch64; }

std::optional<CpuidLeaf> read_cpuid(std::uint32_t, std::uint32_t) { return std::nullopt; }

std::uint64_t read_xcr0() { return 0; }

std::optional<std::uint64_t> read_xcomp(XcompQuery) { return std::nullopt; }

namespace {

/// PR_SVE_GET_VL and PR_SME_GET_VL return the length in the low 16 bits (Linux uapi prctl.h).
std::optional<unsigned> read_vector_bytes(int get_vector_length) {
  constexpr int length_mask = 0xFFFF;
  const int answer = ::prctl(get_vector_length, 0, 0, 0, 0);
  if (answer < 0) return std::nullopt;
  return static_cast<unsigned>(answer & length_mask);
}

}  // namespace

std::optional<unsigned> read_sve_vector_bytes() { return read_vector_bytes(51); }

std::optional<unsigned> read_sme_vector_bytes() { return read_vector_bytes(64); }

std::optional<std::uint64_t> read_riscv_hwprobe(std::int64_t) { return std::nullopt; }

std::optional<std::uint64_t> read_riscv_vtype() { return std::nullopt; }

}  // namespace axle::detect
