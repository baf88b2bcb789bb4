#pragma once
// AMD's part of the probe: a row of detect/vendor_probe.cpp.

#include "detect/vendor_probe.h"

namespace axle::detect {

[[nodiscard]] std::unique_ptr<VendorSigns> amd_signs(Host& host,
                                                     const std::vector<DisplayDevice>& bus,
                                                     const Os& os);
void ask_amd_libraries(LineSink& sink);  ///< ROCm SMI
void add_amd(Fingerprint& print);
[[nodiscard]] std::int64_t amd_lifetime(const std::vector<DriverLine>& lines);

}  // namespace axle::detect
