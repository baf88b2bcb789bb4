#include <algorithm>

#include "detect/library_search.h"
#include "detect/nvidia_facts.h"
#include "detect/nvidia_gpus.h"

namespace axle::detect {
namespace {

bool is_gpu_node(std::string_view name) {
  constexpr std::string_view prefix = "nvidia";
  return name.size() > prefix.size() && name.starts_with(prefix) &&
         std::ranges::all_of(name.substr(prefix.size()),
                             [](char c) { return c >= '0' && c <= '9'; });
}

void look_at_nodes(Host& host, NvidiaSigns& signs) {
  const bool control = host.accessible("/dev/nvidiactl", Access::exists);
  signs.nodes = control;
  // Containers may hold any of the GPUs' nodes; the folder is only read where there is a reason.
  if (!control && signs.devices.empty()) return;
  bool gpu_usable = false;
  for (const std::string& name : host.list_folder("/dev")) {
    if (!is_gpu_node(name)) continue;
    signs.nodes = true;
    gpu_usable = gpu_usable || host.accessible("/dev/" + name, Access::read_write);
  }
  signs.nodes_usable = gpu_usable && host.accessible("/dev/nvidiactl", Access::read_write);
}

bool is_jetson(Host& host) {
  if (host.arch() != Arch::aarch64) return false;
  if (host.accessible("/etc/nv_tegra_release", Access::exists)) return true;
  const std::string family = host.read_file("/sys/devices/soc0/family").value_or("");
  return family.starts_with("Tegra") || family.starts_with("tegra");
}

}  // namespace

NvidiaSigns look_for_nvidia(Host& host, const std::vector<DisplayDevice>& bus) {
  NvidiaSigns signs;
  for (const DisplayDevice& device : bus) {
    if (device.vendor != GpuVendor::nvidia) continue;
    const std::string folder = "/proc/driver/nvidia/gpus/" + device.address;
    signs.devices.push_back(device);
    signs.models.push_back(
        parse_nvidia_model(host.read_file(folder + "/information").value_or("")));
  }
  look_at_nodes(host, signs);
  signs.wsl = host.accessible("/dev/dxg", Access::exists);
  signs.jetson = is_jetson(host);
  signs.libraries = !find_library(host, "libcuda.so.1").empty() ||
                    !find_library(host, "libnvidia-ml.so.1").empty();
  if (!signs.worth_asking()) return signs;
  std::string version = host.read_file("/sys/module/nvidia/version").value_or("");
  while (version.ends_with('\n')) version.pop_back();
  if (version.empty()) {
    version = parse_nvidia_proc_version(host.read_file("/proc/driver/nvidia/version").value_or(""));
  }
  signs.kernel_version = sanitise(version);
  return signs;
}

}  // namespace axle::detect
