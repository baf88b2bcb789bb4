#pragma once
// The display devices on the PCI bus, by sysfs.

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "detect/host.h"

namespace axle::detect {

struct PciId {
  std::uint32_t vendor = 0;
  std::uint32_t device = 0;
  std::uint8_t base_class = 0;
  friend bool operator==(const PciId&, const PciId&) = default;
};

/// A PCI device's `modalias`: "pci:v000010DEd00002330sv…sd…bc03sc02i00".
[[nodiscard]] std::optional<PciId> parse_modalias(std::string_view text);

struct DisplayDevice {
  GpuVendor vendor = GpuVendor::nvidia;
  std::string address;  ///< "0000:65:00.0"
  std::uint32_t device = 0;
  std::string driver;  ///< kernel driver bound to it; empty: none
};

/// Display devices of the three vendors, by address.
[[nodiscard]] std::vector<DisplayDevice> read_display_devices(Host& host);

/// sysfs folder of the device at `address`.
[[nodiscard]] std::string pci_folder(std::string_view address);

/// The last part of a path.
[[nodiscard]] std::string_view file_name(std::string_view path);

}  // namespace axle::detect
