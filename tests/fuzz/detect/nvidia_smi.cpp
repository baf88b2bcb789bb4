#include "detect/nvidia/nvidia_smi.h"

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string_view>

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace axle::detect;
  const NvidiaTool tool = parse_nvidia_smi({reinterpret_cast<const char*>(data), size});
  if (tool.devices.size() > 256) std::abort();
  for (const NvidiaDevice& device : tool.devices) {
    if (device.name.size() > longest_name || device.uuid.size() > longest_name) std::abort();
    if (!device.capability.empty() && !is_capability(device.capability)) std::abort();
    if (normalise_pci_address(device.pci_address) != device.pci_address) std::abort();
  }
  return 0;
}
