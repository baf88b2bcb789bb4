#pragma once
// The architectures of each vendor's GPUs: as numbers, in which chips they are, and which
// properties describe them. One row per vendor.

#include <array>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "detect/machine.h"

namespace axle::providers {

/// The architecture as numbers, so that newer is larger: 9.0 -> {9, 0, 0}, gfx90a -> {9, 0, 10},
/// 20.1.0 -> {20, 1, 0}. nullopt if it is unknown or not valid.
[[nodiscard]] std::optional<std::array<unsigned, 3>> parse_gpu_arch(const detect::Gpu& gpu);

/// "gfx942:sramecc+:xnack-" -> "gfx942"; empty if it is not a gfx name.
[[nodiscard]] std::string gfx_name(std::string_view arch);

/// "12.8" as numbers; a third part is ignored. nullopt if the text is not a valid version or a part
/// is above 9999.
[[nodiscard]] std::optional<std::pair<unsigned, unsigned>> parse_major_minor(std::string_view text);

/// The GPU is part of a system on chip or a processor, according to the driver or because its
/// architecture exists on no card.
[[nodiscard]] bool is_integrated(const detect::Gpu& gpu);

/// The property describes what GPUs of `vendor` run, not their driver.
[[nodiscard]] bool tells_of_gpu(detect::GpuVendor vendor, std::string_view ns,
                                std::string_view feature);

}  // namespace axle::providers
