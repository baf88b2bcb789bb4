#pragma once
// What the GPU namespaces share: sentences about the GPUs that count and those that do not.

#include <string>
#include <string_view>
#include <vector>

#include "detect/machine.h"
#include "providers/gpu_archs.h"
#include "providers/gpu_policy.h"

namespace axle::providers {

/// Why counted_gpus is empty: "no NVIDIA GPU", "NVIDIA GPU present but not usable: …".
[[nodiscard]] std::string describe_no_gpu(const detect::Machine& machine, detect::GpuVendor vendor,
                                          const GpuPolicy& policy);

/// The beginning of a sentence about what the counted GPUs are, `archs` being what each is, best
/// first: "the GPU has compute capability 9.0", "the GPUs, which all count, have compute capability
/// 12.0 and 7.5". `one` and `several` are its verb and object: "is", "are".
[[nodiscard]] std::string describe_gpus(const detect::Machine& machine, detect::GpuVendor vendor,
                                        const GpuPolicy& policy,
                                        const std::vector<std::string>& archs, std::string_view one,
                                        std::string_view several);

/// What the driver runs is stated by an override variable (machines/overrides.h): it counts whether
/// a GPU does or not.
[[nodiscard]] bool is_forced(const detect::Driver& driver);

}  // namespace axle::providers
