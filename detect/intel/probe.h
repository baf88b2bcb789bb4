#pragma once
// Intel's part of the probe: a row of detect/vendor_probe.cpp.

#include "detect/vendor_probe.h"

namespace axle::detect {

[[nodiscard]] std::unique_ptr<VendorSigns> intel_signs(Host& host,
                                                       const std::vector<DisplayDevice>& bus,
                                                       const Os& os);
void ask_intel_libraries(LineSink& sink);  ///< Level Zero
void add_intel(Fingerprint& print);
[[nodiscard]] std::int64_t intel_lifetime(const std::vector<DriverLine>& lines);

}  // namespace axle::detect
