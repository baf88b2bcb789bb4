#pragma once
// What the GPU namespaces share: which GPUs of a machine count, and why none does.

#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "detect/machine.h"

namespace axle::providers {

/// GPUs of `vendor` that work and that no mask hides, in bus order. Pointers into `machine`.
[[nodiscard]] std::vector<const detect::Gpu*> counted_gpus(const detect::Machine& machine,
                                                           detect::GpuVendor vendor);

/// Why counted_gpus is empty: "no NVIDIA GPU", "NVIDIA GPU present but not usable: …".
[[nodiscard]] std::string describe_no_gpu(const detect::Machine& machine, detect::GpuVendor vendor);

/// "NVIDIA", "AMD", "Intel": for sentences.
[[nodiscard]] std::string_view vendor_title(detect::GpuVendor vendor);

/// "12.8" as numbers; a third part is ignored. Nothing when the text is no version or a part is
/// above 9999.
[[nodiscard]] std::optional<std::pair<unsigned, unsigned>> parse_major_minor(std::string_view text);

}  // namespace axle::providers
