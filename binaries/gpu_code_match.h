#pragma once
// Whether code objects of a finished library run on a GPU: the vendors' own rules.
//
// CUDA: compiled code as providers/cuda_code.h has it (torch's rule too), `a` targets on their own
// architecture only, `f` targets on their family (CUDA C++ Programming Guide, "Family-specific
// features"), PTX on the same or a newer architecture when the driver is as new as the toolkit that
// wrote it (PTX ISA, "Release notes": which CUDA brought which PTX).
// AMD: a target runs on its processor, a generic one on its family, and each of `sramecc` and
// `xnack` that the target names must be the device's (LLVM, "User Guide for AMDGPU Backend").
// Intel: SPIR-V on every device, an image on the devices of its product configuration.

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "binaries/binary_scan.h"
#include "detect/machine.h"

namespace axle::binaries {

enum class CodeFit : std::uint8_t {
  runs,
  needs_newer_driver,  ///< PTX that the driver cannot compile yet
  unknown,
  absent,
};

/// `gpu` is one of `machine`. Of several code objects the best verdict counts.
[[nodiscard]] CodeFit judge_cuda_group(const CudaGroup& group, const detect::Gpu& gpu,
                                       const detect::Machine& machine);
/// Whether the GPU runs the group's code but its driver cannot decompress it: all code that fits is
/// compressed with zstd, and the driver does not run CUDA 12.4 (CudaPacking).
[[nodiscard]] bool needs_unpacking_driver(const CudaGroup& group, const detect::Gpu& gpu,
                                          const detect::Machine& machine);
[[nodiscard]] CodeFit judge_amd_target(std::string_view target, const detect::Gpu& gpu);
[[nodiscard]] CodeFit judge_sycl_images(const SyclImages& images, const detect::Gpu& gpu);

/// The best verdict of a library's code on that GPU: a library with kernels for several generations
/// runs if the driver finds one that fits.
[[nodiscard]] CodeFit judge_binary(const BinaryFacts& facts, const detect::Gpu& gpu,
                                   const detect::Machine& machine);

[[nodiscard]] bool has_code_for(const BinaryFacts& facts, detect::GpuVendor vendor);
/// "sm_75", "compute_120", "gfx942", without duplicates.
[[nodiscard]] std::vector<std::string> code_names(const BinaryFacts& facts,
                                                  detect::GpuVendor vendor);
/// The name of the code that was compiled for this GPU alone: "sm_120", "gfx942"; empty if its
/// architecture is unknown.
[[nodiscard]] std::string wanted_code_name(const detect::Gpu& gpu);
/// The section of such code: ".nv_fatbin".
[[nodiscard]] std::string gpu_code_section(detect::GpuVendor vendor);

/// The CUDA version whose toolkit first wrote that PTX, "8.7" -> "12.8"; empty if unknown.
[[nodiscard]] std::string cuda_of_ptx(unsigned major, unsigned minor);

}  // namespace axle::binaries
