#pragma once
// GPUs by name: the meaning of `nvidia:gpu=l40s` and `--for l40s`. A new model is one row.

#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "detect/machine.h"

namespace axle::machines {

struct GpuModel {
  std::string_view name;  ///< lower case, no spaces, no brand: "l40s"
  detect::GpuVendor vendor;
  std::string_view title;                   ///< the vendor's name
  std::string_view arch;                    ///< as detect::Gpu::arch
  unsigned memory_gib;                      ///< 0: several sizes exist, or it uses the CPU's memory
  bool integrated = false;                  ///< part of a CPU
  detect::Arch host = detect::Arch::other;  ///< of the CPU that it always comes with; other: any
  bool linux_alone = false;                 ///< no other system runs where it is
};

/// Sorted by vendor, then age.
[[nodiscard]] std::span<const GpuModel> gpu_models();
[[nodiscard]] const GpuModel* find_gpu_model(std::string_view name);

/// The model in what a driver, a vendor or a cluster calls a GPU: h100 of "NVIDIA H100 80GB HBM3"
/// and of "nvidia_h100_80gb_hbm3". Null for a title of more than 100 bytes.
[[nodiscard]] const GpuModel* find_gpu_model_in(std::string_view title);

/// A GPU of that model whose driver works.
[[nodiscard]] detect::Gpu make_gpu(const GpuModel& model);

/// The model from which make_gpu created `gpu`; null if it was created otherwise.
[[nodiscard]] const GpuModel* find_model_of(const detect::Gpu& gpu);

/// That model alone; of a GPU that was created otherwise every one with its architecture.
[[nodiscard]] std::vector<const GpuModel*> possible_models(const detect::Gpu& gpu);

}  // namespace axle::machines
