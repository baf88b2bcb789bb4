#pragma once
// What namespace `axle` says of the platform that a GPU sits in, or is.
//   aarch64_platform  tegra, sbsa: NVIDIA has two kinds of Arm machines, whose CUDA libraries are
//                     not each other's: Jetsons (Jetson Linux), and all others (Server Base System
//                     Architecture). Jetson Thor with Jetson Linux 38 and newer is both
//   intel_platform    bmg_g31, bmg: the names under which Intel's compiler (ocloc) knows the GPU,
//                     its own and that of the base platform whose code it also runs; '_' for '-'

#include <string>
#include <string_view>

#include "providers/provider.h"

namespace axle::providers {

[[nodiscard]] bool is_platform_feature(std::string_view feature);
[[nodiscard]] Features supported_platforms(const detect::Machine& machine, const GpuPolicy& policy);
[[nodiscard]] Features known_platforms();
[[nodiscard]] Facts platform_facts(const detect::Machine& machine, const GpuPolicy& policy,
                                   std::string_view feature, std::string_view value);

}  // namespace axle::providers
