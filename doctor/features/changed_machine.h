#pragma once
// The machine with one thing changed, as it could be stated: what advice is tried on before it is
// given. Only machines that can be (machines/contradictions.h), unless the first one cannot either.

#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "detect/machine.h"
#include "detect/os/macos.h"
#include "machines/gpu_models.h"
#include "wheel/variant/variant_metadata.h"

namespace axle::doctor {

struct ChangedMachine {
  std::string change;  ///< tells it from all other changes of the same machine: "driver 12.8"
  detect::Machine machine;
};
using ChangedMachines = std::vector<ChangedMachine>;

/// With an NVIDIA driver that runs `cuda` ("12.8"): the first one, and the newest.
[[nodiscard]] ChangedMachines with_driver(const detect::Machine& machine, std::string_view cuda);

[[nodiscard]] ChangedMachines with_macos(const detect::Machine& machine,
                                         detect::MacosVersion version);

/// With `count` of one model instead of all its GPUs, and with their newest driver: one machine per
/// architecture of those that `suits` accepts, newest first.
[[nodiscard]] ChangedMachines with_gpus(
    const detect::Machine& machine, detect::GpuVendor vendor, unsigned count,
    const std::function<bool(const machines::GpuModel&)>& suits);

/// With copies of a working card of the vendor, `count` in all.
[[nodiscard]] ChangedMachines with_more_gpus(const detect::Machine& machine,
                                             detect::GpuVendor vendor, unsigned count);

/// What keeps the vendor's GPUs from working is repaired.
[[nodiscard]] ChangedMachines with_working_gpus(const detect::Machine& machine,
                                                detect::GpuVendor vendor);

/// No variable hides GPUs of the vendor.
[[nodiscard]] ChangedMachines without_masks(const detect::Machine& machine,
                                            detect::GpuVendor vendor);

[[nodiscard]] ChangedMachines with_glibc(const detect::Machine& machine);

/// With a CPU of the same architecture that has `properties`, too; none if they are of another one.
[[nodiscard]] ChangedMachines with_cpu(const detect::Machine& machine,
                                       std::span<const wheel::Property> properties);

/// Of a platform, as index::FamilyBuild has it ("linux_aarch64"): with the simplest CPU of another
/// architecture, with today's macOS, and with the machine's GPUs, or else without any.
[[nodiscard]] ChangedMachines on_platform(const detect::Machine& machine,
                                          std::string_view platform);

}  // namespace axle::doctor
