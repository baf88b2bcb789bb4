#pragma once
// What `nvidia` and `axle` share of the NVIDIA side of a machine: the driver and the GPU that
// count.

#include <optional>
#include <string>
#include <utility>

#include "detect/machine.h"

namespace axle::providers {

/// A CUDA version or a compute capability.
using MajorMinor = std::pair<unsigned, unsigned>;

/// "12.8"
[[nodiscard]] std::string render_version(MajorMinor version);

/// The driver that counts: it works, and unless the machine has no NVIDIA GPU at all, one of them
/// does. nullptr otherwise.
[[nodiscard]] const detect::Driver* counted_nvidia_driver(const detect::Machine& machine);

/// The compute capability of the newest GPU that counts: among several it decides, as in the
/// published provider.
[[nodiscard]] std::optional<MajorMinor> newest_capability(const detect::Machine& machine);

}  // namespace axle::providers
