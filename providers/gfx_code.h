#pragma once
// What namespace `axle` says of AMD GPUs beyond namespace `amd`.
//
// gfx_code                  gfx942, gfx9_4_generic: code that the GPUs execute, their own and that
//                           of the generic target that they belong to (LLVM, "User Guide for AMDGPU
//                           Backend", generic processors; ROCm 6.4 and newer load it). Values may
//                           not contain '-': '_' stands for it
// rocm_version_lower_bound  7.1, 7.0, 7, 6.20 … 5: the system's ROCm is at least this one, as
//                           `nvidia` has it of CUDA; `amd :: rocm_version` is one exact version

#include <string>
#include <string_view>

#include "providers/provider.h"

namespace axle::providers {

[[nodiscard]] bool is_gfx_code_feature(std::string_view feature);
[[nodiscard]] Features supported_gfx_code(const detect::Machine& machine, const GpuPolicy& policy);
[[nodiscard]] Features known_gfx_code();
[[nodiscard]] Facts gfx_code_facts(const detect::Machine& machine, const GpuPolicy& policy,
                                   std::string_view feature, std::string_view value);

/// The generic target that `gfx` belongs to: "gfx9_4_generic"; empty if there is none.
[[nodiscard]] std::string_view generic_gfx(std::string_view gfx);

/// The system's ROCm version if an AMD GPU counts; nullopt if there is none or it is unknown.
[[nodiscard]] std::optional<std::pair<unsigned, unsigned>> counted_rocm(
    const detect::Machine& machine, const GpuPolicy& policy);
/// "the system has ROCm 6.1, and the build needs 6.4", or why there is none that counts.
[[nodiscard]] Fact about_rocm(const detect::Machine& machine, const GpuPolicy& policy,
                              FactCode code, std::string needed);

}  // namespace axle::providers
