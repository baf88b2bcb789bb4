#pragma once
// The accelerators on the PCI bus, read from sysfs.

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

/// Devices that may be a GPU or an NPU, of any vendor: display controllers, co-processors and
/// processing accelerators (PCI Code and ID Assignment), and devices known by their own id (TPUs
/// have no class).
[[nodiscard]] bool may_accelerate(const PciId& id);

/// "10de:2330": four digits each, lower case.
[[nodiscard]] std::string render_pci_id(std::uint32_t vendor, std::uint32_t device);

struct DisplayDevice {
  GpuVendor vendor{};
  std::string address;  ///< "0000:65:00.0"
  std::uint32_t device = 0;
  std::string driver;  ///< kernel driver bound to it; empty: none
};

/// An accelerator that is not a GPU.
struct AcceleratorDevice {
  NpuKind kind = NpuKind::ascend;
  std::string address;
  std::uint32_t device = 0;
  std::string driver;
};

struct PciBus {
  std::vector<DisplayDevice> displays;          ///< of the vendors of gpu_vendors(), by address
  std::vector<AcceleratorDevice> accelerators;  ///< of the known kinds, by address
};

/// Reads one small file per device.
[[nodiscard]] PciBus read_pci_bus(Host& host);

[[nodiscard]] std::string render_pci_id(const DisplayDevice& device);
[[nodiscard]] std::string render_pci_id(const AcceleratorDevice& device);

/// sysfs folder of the device at `address`.
[[nodiscard]] std::string pci_folder(std::string_view address);

/// The last component of a path.
[[nodiscard]] std::string_view file_name(std::string_view path);

}  // namespace axle::detect
