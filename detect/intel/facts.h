#pragma once
// Parses Intel's numbers, and the output of Level Zero: lines in, facts out. Does not access the
// system.

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "detect/drivers/driver_lines.h"

namespace axle::detect {

/// 0x05004004 -> "20.1.4": architecture << 22 | release << 14 | revision. Empty for 0.
[[nodiscard]] std::string render_device_ip(std::uint32_t ip);

/// A GPU of the generations that SYCL and torch's XPU builds run on (Xe-HPG and later).
struct IntelModel {
  std::uint32_t first;  ///< PCI device ids first to last
  std::uint32_t last;
  std::string_view name;
  std::string_view ip;  ///< "12.55.8"; empty if one id is used for several
};

/// The model with that PCI device id, or nullptr: older, or too new for the table.
[[nodiscard]] const IntelModel* find_intel_model(std::uint32_t device);

/// A model of the generations before Xe-HPG, for names and IPs in messages; nullptr for others.
[[nodiscard]] const IntelModel* find_older_intel_model(std::uint32_t device);

/// Whether SYCL and torch's XPU builds run on a device of that IP (12.55, Xe-HPG, and later).
[[nodiscard]] bool is_xpu_ip(std::uint32_t ip);

/// 0x00010003 -> "1.3".
[[nodiscard]] std::string render_level_zero_version(std::uint32_t version);

/// A driver's version: major << 24 | minor << 16 | build.
[[nodiscard]] std::string render_level_zero_driver(std::uint32_t version);

struct LevelZeroDevice {
  std::uint32_t vendor_id = 0;
  std::uint32_t device_id = 0;
  std::uint32_t ip = 0;
  std::string pci_address;
  std::uint64_t memory = 0;
  bool integrated = false;
  std::string name;
};

/// The lines from the child (detect/intel/libraries.cpp).
struct LevelZeroAnswer {
  std::string step;
  std::string refused;  ///< a library file that was not loaded, and why
  std::string missing;
  std::optional<std::int64_t> init;
  std::optional<std::int64_t> device_error;
  std::string api_version;
  std::string driver_version;
  std::vector<LevelZeroDevice> devices;
  std::vector<std::string> missing_symbols;
};

[[nodiscard]] LevelZeroAnswer read_level_zero_lines(const std::vector<DriverLine>& lines);

}  // namespace axle::detect
