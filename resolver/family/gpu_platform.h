#pragma once
// Which GPU libraries a build brings or needs: one environment has those of one major version.

#include <string>
#include <string_view>

#include "detect/machine.h"
#include "index/family/family.h"
#include "wheel/version.h"

namespace axle::resolver {

/// "CUDA 12", "ROCm 6", "XPU"; empty: of none, or not known: it goes with any. By the family's
/// label if there is one (nullptr: none), else by the name (nvidia-cublas-cu12, cupy-cuda12x), the
/// local version (+cu126, +cu12torch2.9), or the version of what is versioned as CUDA is.
[[nodiscard]] std::string gpu_platform(std::string_view name, const wheel::Version& version,
                                       const index::FamilyLabel* label);
/// Where that says nothing: what the name (tensorflow-rocm) or the local version (+xpu) says
/// without a version of the toolkit, "CUDA", "ROCm" or "XPU"; empty: nothing.
[[nodiscard]] std::string gpu_backend(std::string_view name, const wheel::Version& version);
/// Whether a platform, or a backend, is one for GPUs of that vendor.
[[nodiscard]] bool is_platform_of(std::string_view platform, detect::GpuVendor vendor);
/// That the name alone says.
[[nodiscard]] std::string gpu_platform_of_name(std::string_view name);
/// That a library says which a build needs: "libcudart.so.12". Of those that have the number of
/// their toolkit; others count for themselves (libcusparse.so.12 is in CUDA 12 and 13).
[[nodiscard]] std::string gpu_platform_of_library(std::string_view library);

}  // namespace axle::resolver
