#include <sys/prctl.h>

#include "detect/cpu_registers.h"

namespace axle::detect {

Arch native_arch() { return Arch::aarch64; }

std::optional<CpuidLeaf> read_cpuid(std::uint32_t, std::uint32_t) { return std::nullopt; }

std::uint64_t read_xcr0() { return 0; }

std::optional<std::uint64_t> read_xcomp(XcompQuery) { return std::nullopt; }

std::string read_brand() { return {}; }

std::optional<unsigned> read_sve_vector_bytes() {
  constexpr int get_vector_length = 51;  // PR_SVE_GET_VL, Linux uapi prctl.h
  constexpr int length_mask = 0xFFFF;    // PR_SVE_VL_LEN_MASK
  const int answer = ::prctl(get_vector_length, 0, 0, 0, 0);
  if (answer < 0) return std::nullopt;
  return static_cast<unsigned>(answer & length_mask);
}

}  // namespace axle::detect
