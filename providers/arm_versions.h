#pragma once
// What namespace `axle` says of an Arm CPU beyond single flags: the versions of the architecture
// that the published provider of `aarch64` does not reach.
//   arm_version         8a to 8.9a and 9.0a to 9.2a; what kernels hide from cores that have it is
//                       taken on trust (detect/cpu/aarch64_versions.h)
//   arm_version_strict  the same where the kernel tells every mandatory feature

#include <string>
#include <string_view>

#include "detect/machine.h"
#include "providers/provider.h"

namespace axle::providers {

[[nodiscard]] bool is_arm_version_feature(std::string_view feature);
[[nodiscard]] Features supported_arm_versions(const detect::Cpu& cpu);
[[nodiscard]] Features known_arm_versions();
[[nodiscard]] Facts arm_version_facts(const detect::Cpu& cpu, std::string_view ns,
                                      std::string_view feature, std::string_view value);

}  // namespace axle::providers
