#include "detect/nvidia/nvidia_smi.h"

#include <algorithm>
#include <array>

#include "detect/drivers/driver_lines.h"
#include "detect/pci_bus.h"
#include "detect/text_pieces.h"

namespace axle::detect {
namespace {

constexpr std::size_t columns = 9;

/// The values of a line; the last one takes the rest, since a name may contain a comma.
std::array<std::string_view, columns> split(std::string_view line) {
  std::array<std::string_view, columns> values;
  for (std::size_t i = 0; i < columns; ++i) {
    const std::size_t end = i + 1 < columns ? std::min(line.find(','), line.size()) : line.size();
    values[i] = trim(line.substr(0, end));
    line.remove_prefix(std::min(end + 1, line.size()));
  }
  return values;
}

/// "0x233010DE" -> "10de:2330": the device id is in the upper half, the vendor's in the lower.
std::string pci_id_of(std::string_view text) {
  const auto id = parse_integer(text);
  if (!id || *id <= 0 || *id > 0xFFFFFFFF) return {};
  const auto both = static_cast<std::uint32_t>(*id);
  return render_pci_id(both & 0xFFFFU, both >> 16U);
}

}  // namespace

NvidiaTool parse_nvidia_smi(std::string_view text) {
  constexpr std::int64_t mebibyte = 1024 * 1024;
  constexpr std::int64_t most_memory = 16 * mebibyte;  // in mebibytes
  NvidiaTool tool;
  while (!text.empty() && tool.devices.size() < most_devices) {
    const auto [index, driver, capability, address, memory, uuid, id, mig, name] =
        split(take_line(text));
    const auto number = parse_integer(index);
    NvidiaDevice device;
    device.pci_address = normalise_pci_address(address);
    if (!number || *number < 0 || !is_driver_version(driver) || device.pci_address.empty())
      continue;
    device.index = *number;
    if (is_capability(capability)) device.capability = capability;
    const std::int64_t size = parse_integer(memory).value_or(0);
    if (size > 0 && size < most_memory) {
      device.memory = static_cast<std::uint64_t>(size * mebibyte);
    }
    device.uuid = sanitise(uuid);
    device.pci_id = pci_id_of(id);
    device.mig = mig == "Enabled";
    device.name = sanitise(name);
    tool.driver_version = driver;
    tool.devices.push_back(std::move(device));
  }
  return tool;
}

}  // namespace axle::detect
