#pragma once
// NVIDIA's part of the probe: a row of detect/vendor_probe.cpp.

#include "detect/vendor_probe.h"

namespace axle::detect {

[[nodiscard]] std::unique_ptr<VendorSigns> nvidia_signs(Host& host,
                                                        const std::vector<DisplayDevice>& bus,
                                                        const Os& os);
void ask_nvidia_libraries(LineSink& sink);  ///< the CUDA driver API and NVML
void ask_nvidia_tool(LineSink& sink);       ///< nvidia-smi, where libraries cannot be loaded
void add_nvidia(Fingerprint& print);
[[nodiscard]] std::int64_t nvidia_lifetime(const std::vector<DriverLine>& lines);

}  // namespace axle::detect
