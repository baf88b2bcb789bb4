#pragma once
// How clusters name what Axle knows: the architectures of Kubernetes, the CPU features of Node
// Feature Discovery, the device ids of AMD's node labeller.

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "detect/machine.h"

namespace axle::machines {

/// "x86_64" -> "amd64" (GOARCH, of kubernetes.io/arch); empty: it has no such name.
[[nodiscard]] std::string_view kubernetes_arch(detect::Arch arch);
[[nodiscard]] detect::Arch parse_kubernetes_arch(std::string_view word);

/// Behind "feature.node.kubernetes.io/cpu-cpuid.": "AVX512F". Empty: Node Feature Discovery does
/// not know the capability, or hides it unless it is told otherwise (its deniedFeatures: what any
/// CPU with AVX2 has, such as SSE4.2 or BMI2).
[[nodiscard]] std::string feature_label(detect::Capability capability);
[[nodiscard]] std::optional<detect::Capability> capability_of_label(detect::Arch arch,
                                                                    std::string_view label);
/// What labels can tell of a level of x86-64 where hidden features are hidden. Empty: nothing, of
/// the first two.
[[nodiscard]] std::vector<std::string_view> level_labels(unsigned level);

/// "gfx942" -> "74a0", …: of the accelerators that are in clusters (pci.ids). Empty: none is known.
[[nodiscard]] std::vector<std::string_view> device_ids_of(std::string_view gfx);
/// "74a1" -> "gfx942"; empty: not known.
[[nodiscard]] std::string_view gfx_of_device(std::string_view id);

}  // namespace axle::machines
