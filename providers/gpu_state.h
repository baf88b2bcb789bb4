#pragma once
// What the GPU namespaces share: architectures as numbers, and sentences about the GPUs that count
// and those that do not.

#include <array>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "detect/machine.h"
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

/// "NVIDIA", "AMD", "Intel": for sentences.
[[nodiscard]] std::string_view vendor_title(detect::GpuVendor vendor);

/// The architecture as numbers, so that newer is larger: 9.0 -> {9, 0, 0}, gfx90a -> {9, 0, 10},
/// 20.1.0 -> {20, 1, 0}. nullopt when it is unknown or nonsense.
[[nodiscard]] std::optional<std::array<unsigned, 3>> parse_gpu_arch(const detect::Gpu& gpu);

/// "gfx942:sramecc+:xnack-" -> "gfx942"; empty unless it is a gfx name.
[[nodiscard]] std::string gfx_name(std::string_view arch);

/// "12.8" as numbers; a third part is ignored. Nothing when the text is no version or a part is
/// above 9999.
[[nodiscard]] std::optional<std::pair<unsigned, unsigned>> parse_major_minor(std::string_view text);

}  // namespace axle::providers
