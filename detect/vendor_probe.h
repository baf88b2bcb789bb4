#pragma once
// How each vendor's GPUs are found: the parts that its folder provides for the probe, one row per
// vendor.

#include <chrono>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "detect/drivers/driver_lines.h"
#include "detect/drivers/fingerprint.h"
#include "detect/drivers/line_sink.h"
#include "detect/host.h"
#include "detect/pci_bus.h"
#include "detect/verdict.h"

namespace axle::detect {

/// What files show about one vendor, before its libraries are queried.
class VendorSigns {
 public:
  virtual ~VendorSigns() = default;
  /// A child is worth starting.
  [[nodiscard]] virtual bool worth_asking() const = 0;
  /// `answer` is nullptr if the libraries were not queried; `asked_for` says whether the caller
  /// wanted them queried. Reads the variables that hide GPUs.
  [[nodiscard]] virtual VendorFindings judge(Host& host, const DriverAnswer* answer, bool asked_for,
                                             std::chrono::milliseconds time_limit) const = 0;
};

struct VendorProbe {
  GpuVendor vendor;
  std::unique_ptr<VendorSigns> (*look)(Host& host, const std::vector<DisplayDevice>& bus,
                                       const Os& os);
  /// In a child (detect/drivers/driver_libraries.h).
  void (*ask_libraries)(LineSink& sink);
  /// What the libraries' answer depends on.
  void (*add_to)(Fingerprint& print);
  /// How long the answer is valid (detect/drivers/kept_answers.h).
  std::int64_t (*lifetime)(const std::vector<DriverLine>& lines);
};

/// In the order of gpu_vendors().
[[nodiscard]] std::span<const VendorProbe> vendor_probes();
[[nodiscard]] const VendorProbe& vendor_probe(GpuVendor vendor);

}  // namespace axle::detect
