#pragma once
// Instructions and system calls that only exist on one architecture. One .cpp per architecture.

#include <cstdint>
#include <optional>
#include <string>

#include "detect/host.h"

namespace axle::detect {

[[nodiscard]] Arch native_arch();
[[nodiscard]] std::optional<CpuidLeaf> read_cpuid(std::uint32_t leaf, std::uint32_t subleaf);
[[nodiscard]] std::uint64_t read_xcr0();
[[nodiscard]] std::optional<std::uint64_t> read_xcomp(XcompQuery query);
[[nodiscard]] std::optional<unsigned> read_sve_vector_bytes();
[[nodiscard]] std::optional<unsigned> read_sme_vector_bytes();
[[nodiscard]] std::optional<std::uint64_t> read_riscv_hwprobe(std::int64_t key);
[[nodiscard]] std::optional<std::uint64_t> read_riscv_vtype();

}  // namespace axle::detect
