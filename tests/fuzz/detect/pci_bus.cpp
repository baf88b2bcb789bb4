// What a kernel says of its PCI devices: a line each of address, modalias and driver, parted by
// tabs.
#include "detect/pci_bus.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>

#include "detect/drivers/driver_lines.h"
#include "tests/support/recorded_host.h"

namespace {

using namespace axle::detect;

std::string take(std::string_view& text, char end) {
  const std::string taken(text.substr(0, text.find(end)));
  text.remove_prefix(std::min(taken.size() + 1, text.size()));
  return taken;
}

template <class Device>
void check(const std::vector<Device>& devices) {
  if (!std::ranges::is_sorted(devices, {}, &Device::address)) std::abort();
  for (const Device& device : devices) {
    if (normalise_pci_address(device.address) != device.address) std::abort();
    for (const char c : device.driver) {
      if (c < ' ' || c > '~') std::abort();
    }
    (void)render_pci_id(device);
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  std::string_view text(reinterpret_cast<const char*>(data), size);
  axle::testing::RecordedHost host;
  const std::string folder = "/sys/bus/pci/devices";
  while (!text.empty()) {
    const std::string line = take(text, '\n');
    std::string_view rest = line;
    const std::string address = take(rest, '\t');
    host.folders[folder + "/"].push_back(address);
    host.files[folder + "/" + address + "/modalias"] = take(rest, '\t');
    host.links[folder + "/" + address + "/driver"] = rest;
  }
  const PciBus bus = read_pci_bus(host);
  check(bus.displays);
  check(bus.accelerators);
  return 0;
}
