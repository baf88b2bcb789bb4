#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "detect/drivers/driver_lines.h"
#include "detect/npu/ascend_facts.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  const axle::detect::AscendTool tool = axle::detect::parse_npu_smi(text);
  if (tool.devices.size() > 256 || tool.version.size() > 32) std::abort();
  for (const axle::detect::AscendDevice& device : tool.devices) {
    if (device.name.empty() || device.name.size() > 128 || device.health.size() > 128) std::abort();
    if (axle::detect::normalise_pci_address(device.pci_address) != device.pci_address) std::abort();
    static_cast<void>(axle::detect::ascend_type_of(device.name));
  }
  if (axle::detect::parse_ascend_version(text).size() > 32) std::abort();
  return 0;
}
