#pragma once
// Shared by `nvidia` and `axle`: the NVIDIA driver and the NVIDIA GPUs that count.

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "detect/machine.h"
#include "foundation/report/fact.h"
#include "providers/gpu_policy.h"

namespace axle::providers {

/// A CUDA version or a compute capability.
using MajorMinor = std::pair<unsigned, unsigned>;

/// "12.8"
[[nodiscard]] std::string render_version(MajorMinor version);

/// Integrated into a Tegra system on chip (Jetson).
[[nodiscard]] bool is_tegra(MajorMinor capability);
/// Thor is one chip with two numbers: 10.1 up to CUDA 12, 11.0 since CUDA 13.
[[nodiscard]] bool is_thor(MajorMinor capability);

/// The driver that counts: it works, and one of the NVIDIA GPUs counts, unless the machine has none
/// at all. nullptr otherwise. A driver that an override states always counts.
[[nodiscard]] const detect::Driver* counted_nvidia_driver(const detect::Machine& machine,
                                                          const GpuPolicy& policy);

/// Whether the CUDA version that the driver reports is possible: from 11.0, the provider's lowest,
/// to 99.99 (cuDriverGetVersion counts in thousands). As in the published provider, a forced
/// version may be any.
[[nodiscard]] bool is_cuda_version(MajorMinor version, const detect::Driver& driver);

/// The compute capabilities of the GPUs that count, without duplicates, newest first; nullopt for a
/// GPU whose capability is unknown.
[[nodiscard]] std::vector<std::optional<MajorMinor>> counted_capabilities(
    const detect::Machine& machine, const GpuPolicy& policy);

/// A GPU of that kind is present, whether it counts or not.
[[nodiscard]] bool has_capability(const detect::Machine& machine, bool (*is)(MajorMinor));

/// "the GPU has compute capability 9.0, and the build has …"; see what_gpus_are. Requires a counted
/// GPU.
[[nodiscard]] Facts what_capabilities_are(const detect::Machine& machine, const GpuPolicy& policy,
                                          std::string needed);

/// "driver 550.54", or "the driver" if its version is unknown.
[[nodiscard]] std::string driver_title(const detect::Driver& driver);

}  // namespace axle::providers
