#include <algorithm>

#include "detect/drivers/driver_lines.h"
#include "detect/drivers/library_search.h"
#include "detect/intel/facts.h"
#include "detect/intel/gpus.h"
#include "detect/text_pieces.h"

namespace axle::detect {
namespace {

std::string read_render_node(Host& host, const std::string& address) {
  for (const std::string& name : host.list_folder(pci_folder(address) + "/drm")) {
    if (name.starts_with("renderD")) return "/dev/dri/" + name;
  }
  return {};
}

std::string read_kernel_version(Host& host) {
  for (const char* module : {"xe", "i915"}) {
    const std::string path = std::string("/sys/module/") + module + "/version";
    const std::string version(trim(host.read_file(path).value_or("")));
    if (!version.empty()) return sanitise(version);
  }
  return {};
}

}  // namespace

bool IntelSigns::candidates() const {
  return std::ranges::any_of(devices, &IntelDevice::candidate);
}

IntelSigns look_for_intel(Host& host, const std::vector<DisplayDevice>& bus) {
  IntelSigns signs;
  LibrarySearch libraries(host);
  for (const DisplayDevice& seen : bus) {
    if (seen.vendor != GpuVendor::intel) continue;
    IntelDevice device;
    device.bus = seen;
    // Unknown ids under xe are newer than the tables; under i915 they are older generations.
    device.candidate = find_intel_model(seen.device) != nullptr ||
                       (seen.driver == "xe" && find_older_intel_model(seen.device) == nullptr);
    device.render_node = read_render_node(host, seen.address);
    if (!device.render_node.empty()) {
      device.node_exists = host.accessible(device.render_node, Access::exists);
      device.node_usable = host.accessible(device.render_node, Access::read_write);
    }
    signs.devices.push_back(std::move(device));
  }
  signs.invited = !libraries.find_on_path("libze_loader.so.1").empty() ||
                  !host.environment("ZE_ENABLE_ALT_DRIVERS").value_or("").empty() ||
                  !libraries.find("libze_intel_gpu.so.1").empty();
  if (signs.devices.empty()) return signs;
  signs.loader = !libraries.find("libze_loader.so.1").empty();
  signs.kernel_version = read_kernel_version(host);
  return signs;
}

}  // namespace axle::detect
