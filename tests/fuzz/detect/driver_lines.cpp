// What a driver library may say, read by everyone who reads it.
#include "detect/drivers/driver_lines.h"

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "detect/amd/facts.h"
#include "detect/cpu/x86.h"
#include "detect/drivers/visible_devices.h"
#include "detect/intel/facts.h"
#include "detect/nvidia/facts.h"
#include "detect/pci_bus.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  const auto lines = axle::detect::parse_driver_lines(text);
  for (const axle::detect::DriverLine& line : lines) {
    if (line.fields.size() > 16) std::abort();
    for (const std::string& field : line.fields) {
      if (field.size() > axle::detect::longest_field) std::abort();
      const std::string address = axle::detect::normalise_pci_address(field);
      if (axle::detect::normalise_pci_address(address) != address) std::abort();
    }
  }
  static_cast<void>(axle::detect::read_nvidia_lines(lines));
  static_cast<void>(axle::detect::read_smi_lines(lines));
  static_cast<void>(axle::detect::read_level_zero_lines(lines));
  static_cast<void>(axle::detect::parse_modalias(text));
  static_cast<void>(axle::detect::visible_by_list(text, {"GPU-a", "GPU-b"}));
  static_cast<void>(axle::detect::visible_by_affinity(text, 2));
  if (axle::detect::parse_cpu_list(text).size() > 4096) std::abort();
  return 0;
}
