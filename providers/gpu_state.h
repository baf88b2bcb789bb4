#pragma once
// Shared by the GPU namespaces: facts about the GPUs that count and those that do not.

#include <string>
#include <string_view>
#include <vector>

#include "detect/machine.h"
#include "foundation/report/fact.h"
#include "providers/gpu_archs.h"
#include "providers/gpu_policy.h"

namespace axle::providers {

/// "NVIDIA GPU"
[[nodiscard]] std::string gpu_title(detect::GpuVendor vendor);

/// Why counted_gpus is empty: "no NVIDIA GPU", "NVIDIA GPU present but not usable: …".
[[nodiscard]] Fact why_no_gpu(const detect::Machine& machine, detect::GpuVendor vendor,
                              const GpuPolicy& policy);

/// What the counted GPUs are, and which of them count: "the GPU has compute capability 9.0, and the
/// build has …". `archs` has the architecture of each, best first, "" for an unknown one.
[[nodiscard]] Facts what_gpus_are(FactCode code, const detect::Machine& machine,
                                  detect::GpuVendor vendor, const GpuPolicy& policy,
                                  const std::vector<std::string>& archs, std::string needed);

/// The driver's version is stated by an override variable (machines/overrides.h): it counts even
/// without a counted GPU.
[[nodiscard]] bool is_forced(const detect::Driver& driver);

}  // namespace axle::providers
