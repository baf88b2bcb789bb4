#pragma once
// What `nvidia` and `axle` share of the NVIDIA side of a machine: the driver and the GPUs that
// count.

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
/// Thor is one chip with two numbers: 10.1 until CUDA 12, 11.0 from CUDA 13 on.
[[nodiscard]] bool is_thor(MajorMinor capability);

/// The driver that counts: it works, and unless the machine has no NVIDIA GPU at all, one of them
/// counts. nullptr otherwise. One that an override states counts in any case.
[[nodiscard]] const detect::Driver* counted_nvidia_driver(const detect::Machine& machine,
                                                          const GpuPolicy& policy);

/// Whether what the driver says that it runs can be: from 11.0 on, with which the provider begins,
/// to 99.99 (cuDriverGetVersion counts in thousands). As published, one that is forced may be any.
[[nodiscard]] bool is_cuda_version(MajorMinor version, const detect::Driver& driver);

/// The compute capability of each GPU that counts, each once, the newest first; nullopt for one
/// whose capability is not known.
[[nodiscard]] std::vector<std::optional<MajorMinor>> counted_capabilities(
    const detect::Machine& machine, const GpuPolicy& policy);

/// A GPU of that kind is there, whether it counts or not.
[[nodiscard]] bool has_capability(const detect::Machine& machine, bool (*is)(MajorMinor));

/// "the GPU has compute capability 9.0, and the build has …"; see what_gpus_are. Some GPU counts.
[[nodiscard]] Facts what_capabilities_are(const detect::Machine& machine, const GpuPolicy& policy,
                                          std::string needed);

/// "driver 550.54", or "the driver" where its version is not known.
[[nodiscard]] std::string driver_title(const detect::Driver& driver);

}  // namespace axle::providers
