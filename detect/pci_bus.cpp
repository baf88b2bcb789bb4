#include "detect/pci_bus.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cstdio>

#include "detect/drivers/driver_lines.h"
#include "detect/gpu_vendors.h"
#include "detect/npu/npu_models.h"

namespace axle::detect {
namespace {

constexpr std::string_view devices_folder = "/sys/bus/pci/devices/";
// PCI Code and ID Assignment Specification, 1.4 and 1.19.
constexpr std::uint8_t display_class = 0x03;
constexpr std::uint8_t accelerator_class = 0x12;

/// Removes `prefix` and `digits` hexadecimal digits from the front of `text`.
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

constexpr std::uint32_t intel_id = 0x8086;
constexpr std::uint32_t huawei_id = 0x19E5;
constexpr std::uint32_t google_id = 0x1AE0;
constexpr std::uint32_t qualcomm_id = 0x17CB;

std::optional<GpuVendor> gpu_vendor_of(const PciId& id) {
  for (const GpuVendorRow& row : gpu_vendors()) {
    if (id.vendor != row.pci_id) continue;
    const bool gpu =
        id.base_class == display_class || (row.accelerators && id.base_class == accelerator_class);
    if (gpu) return row.vendor;
  }
  return std::nullopt;
}

std::optional<NpuKind> npu_kind_of(const PciId& id) {
  const bool accelerator = id.base_class == accelerator_class;
  if (accelerator && id.vendor == huawei_id) return NpuKind::ascend;
  if (accelerator && id.vendor == intel_id) return NpuKind::intel_npu;
  if (id.vendor == google_id && find_tpu(id.device) != nullptr) return NpuKind::tpu;
  if (id.vendor == qualcomm_id && id.device == cloud_ai_100) return NpuKind::qualcomm;
  return std::nullopt;
}

std::uint32_t vendor_id_of(NpuKind kind) {
  switch (kind) {
    case NpuKind::ascend:
      return huawei_id;
    case NpuKind::tpu:
      return google_id;
    case NpuKind::intel_npu:
      return intel_id;
    case NpuKind::qualcomm:
      return qualcomm_id;
  }
  return 0;
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

bool may_accelerate(const PciId& id) {
  constexpr std::uint8_t coprocessor_class = 0x0B;
  return id.base_class == display_class || id.base_class == coprocessor_class ||
         id.base_class == accelerator_class || npu_kind_of(id).has_value();
}

std::string render_pci_id(std::uint32_t vendor, std::uint32_t device) {
  std::array<char, 24> text;
  std::snprintf(text.data(), text.size(), "%04x:%04x", vendor, device);
  return text.data();
}

std::string render_pci_id(const DisplayDevice& device) {
  return render_pci_id(gpu_vendor(device.vendor).pci_id, device.device);
}

std::string render_pci_id(const AcceleratorDevice& device) {
  return render_pci_id(vendor_id_of(device.kind), device.device);
}

PciBus read_pci_bus(Host& host) {
  PciBus bus;
  for (const std::string& name : host.list_folder(std::string(devices_folder))) {
    const std::string folder = pci_folder(name);
    const auto id = parse_modalias(host.read_file(folder + "/modalias", 256).value_or(""));
    if (!id) continue;
    const auto vendor = gpu_vendor_of(*id);
    const auto kind = npu_kind_of(*id);
    const std::string address = normalise_pci_address(name);
    if ((!vendor && !kind) || address.empty()) continue;
    const std::string link = host.read_link(folder + "/driver").value_or("");
    const std::string driver = sanitise(file_name(link));
    if (vendor) {
      bus.displays.push_back({*vendor, address, id->device, driver});
    } else {
      bus.accelerators.push_back({*kind, address, id->device, driver});
    }
  }
  std::ranges::sort(bus.displays, {}, &DisplayDevice::address);
  std::ranges::sort(bus.accelerators, {}, &AcceleratorDevice::address);
  return bus;
}

}  // namespace axle::detect
