#pragma once
// The GPU features of namespace `axle`: what the published GPU namespaces cannot say.
//
// gpu               nvidia, amd, intel: a GPU of that vendor works
// cuda_code         80_real, 120_virtual: code that the NVIDIA GPUs execute, by CUDA's own
//                   rule: compiled code of the same generation and at most its number, but never
//                   between integrated (Tegra) and other GPUs (CUDA C++ Programming Guide, "Binary
//                   Compatibility"; torch/cuda/__init__.py has the same table), and PTX of any
//                   older one. 90a_real: for one architecture alone; 100f_real: for it and the
//                   later ones of its family (nvcc, "GPU feature list": 100f runs on 10.0 and 10.3)
// cuda_code_or_jit  80_real, or a CUDA version: for builds whose PTX counts as well. PTX needs the
//                   driver of its toolkit (CUDA Compatibility, "minor version compatibility"), so
//                   such a build lists its compiled code and its toolkit's version here
// cuda_compressed_code  on: the driver reads compressed code (CUDA 12.4, R550). A build for all
//                   installers says nvidia :: cuda_version_lower_bound :: 12.4

#include <string>
#include <string_view>

#include "providers/provider.h"

namespace axle::providers {

[[nodiscard]] Features supported_gpu_code(const detect::Machine& machine, const GpuPolicy& policy);
/// Every value that any machine may support.
[[nodiscard]] Features known_gpu_code();
[[nodiscard]] bool is_gpu_code_feature(std::string_view feature);
/// The facts of the machine that decide `feature :: value`.
[[nodiscard]] Facts gpu_code_facts(const detect::Machine& machine, const GpuPolicy& policy,
                                   std::string_view feature, std::string_view value);

}  // namespace axle::providers
