#include "detect/pci_bus.h"

#include <charconv>

#include "detect/driver_lines.h"

namespace axle::detect {
namespace {

constexpr std::string_view devices_folder = "/sys/bus/pci/devices/";
constexpr std::uint8_t display_class = 0x03;  // PCI Code and ID Assignment Specification, 1.4

/// Takes `prefix` and `digits` hexadecimal digits off the front of `text`.
std::optional<std::uint32_t> take_hex(std::string_view& text, std::string_view prefix,
                                      std::size_t digits) {
  if (!text.starts_with(prefix) || text.size() < prefix.size() + digits) return std::nullopt;
  const std::string_view number = text.substr(prefix.size(), digits);
  std::uint32_t value = 0;
  const auto [end, error] =
      std::from_chars(number.data(), number.data() + number.size(), value, 16);
  if (error != std::errc{} || end != number.data() + number.size()) return std::nullopt;
  text.remove_prefix(prefix.size() + digits);
  return value;
}

std::optional<GpuVendor> vendor_of(std::uint32_t id) {
  switch (id) {
    case 0x10DE:
      return GpuVendor::nvidia;
    case 0x1002:
      return GpuVendor::amd;
    case 0x8086:
      return GpuVendor::intel;
    default:
      return std::nullopt;
  }
}

}  // namespace

std::optional<PciId> parse_modalias(std::string_view text) {
  const auto vendor = take_hex(text, "pci:v", 8);
  if (!vendor) return std::nullopt;
  const auto device = take_hex(text, "d", 8);
  if (!device || !take_hex(text, "sv", 8) || !take_hex(text, "sd", 8)) return std::nullopt;
  const auto base_class = take_hex(text, "bc", 2);
  if (!base_class) return std::nullopt;
  return PciId{*vendor, *device, static_cast<std::uint8_t>(*base_class)};
}

std::string pci_folder(std::string_view address) {
  return std::string(devices_folder) + std::string(address);
}

std::string_view file_name(std::string_view path) { return path.substr(path.rfind('/') + 1); }

std::vector<DisplayDevice> read_display_devices(Host& host) {
  std::vector<DisplayDevice> devices;
  for (const std::string& name : host.list_folder(std::string(devices_folder))) {
    const std::string folder = pci_folder(name);
    const auto id = parse_modalias(host.read_file(folder + "/modalias").value_or(""));
    if (!id || id->base_class != display_class) continue;
    const auto vendor = vendor_of(id->vendor);
    const std::string address = normalise_pci_address(name);
    if (!vendor || address.empty()) continue;
    const std::string driver = host.read_link(folder + "/driver").value_or("");
    devices.push_back({*vendor, address, id->device, sanitise(file_name(driver))});
  }
  return devices;
}

}  // namespace axle::detect
