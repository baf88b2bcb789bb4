#pragma once
// What namespace `axle` says of the length of a CPU's vectors.
//   avx10_version          2, 1: versions of the converged AVX10 that the CPU has
//   avx10_bits             512, 256, 128: lengths that AVX10 enumerates
//   sve_bytes              64: exactly this length, for code compiled for one
//                          (-msve-vector-bits=512)
//   sve_bytes_lower_bound  64, 32, 16: at least this length, for code that any length suits
//   sme_bytes, sme_bytes_lower_bound: the same of the streaming vectors

#include <string>
#include <string_view>

#include "providers/provider.h"

namespace axle::providers {

[[nodiscard]] bool is_vector_length_feature(std::string_view feature);
[[nodiscard]] Features supported_vector_lengths(const detect::Machine& machine,
                                                const GpuPolicy& policy);
[[nodiscard]] Features known_vector_lengths();
[[nodiscard]] Facts vector_length_facts(const detect::Machine& machine, const GpuPolicy& policy,
                                        std::string_view feature, std::string_view value);

}  // namespace axle::providers
