#include <algorithm>

#include "detect/device_node.h"
#include "detect/drivers/library_search.h"
#include "detect/nvidia/facts.h"
#include "detect/nvidia/gpus.h"
#include "detect/text_pieces.h"

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
  // Containers may have any of the GPUs' nodes; the folder is only read if there is a reason.
  if (!control && signs.devices.empty()) return;
  std::string refused_gpu;
  bool gpu_open = false;
  for (const std::string& name : host.list_folder("/dev")) {
    if (!is_gpu_node(name)) continue;
    signs.nodes = true;
    const std::string node = "/dev/" + name;
    const bool open = look_at_node(host, node) == NodeState::open;
    gpu_open = gpu_open || open;
    if (!open && refused_gpu.empty()) refused_gpu = node;
  }
  if (!signs.nodes) return;
  if (!control) signs.missing_node = "/dev/nvidiactl";
  if (!gpu_open && refused_gpu.empty()) signs.missing_node = "/dev/nvidia0";
  if (!gpu_open) signs.refused_node = refused_gpu;
  if (control && !host.accessible("/dev/nvidiactl", Access::read_write)) {
    signs.refused_node = "/dev/nvidiactl";
  }
}

void look_for_jetson(Host& host, const Os& os, NvidiaSigns& signs) {
  if (host.arch() != Arch::aarch64) return;
  const std::string family = host.read_file("/sys/devices/soc0/family", 64).value_or("");
  signs.jetson = !os.tegra_release.empty() ||
                 host.accessible("/etc/nv_tegra_release", Access::exists) ||
                 family.starts_with("Tegra") || family.starts_with("tegra");
  if (!signs.jetson) return;
  signs.jetson_node = std::ranges::any_of(
      std::initializer_list<const char*>{"/dev/nvhost-gpu", "/dev/nvhost-ctrl-gpu", "/dev/nvgpu"},
      [&](const char* node) { return host.accessible(node, Access::exists); });
}

void look_for_wsl(Host& host, NvidiaSigns& signs) {
  signs.wsl_node = host.accessible("/dev/dxg", Access::exists);
  // Windows mounts it into every Linux of its own; containers there may lack the node.
  signs.wsl = signs.wsl_node || host.accessible("/usr/lib/wsl/lib/libdxcore.so", Access::exists);
}

void read_kernel_version(Host& host, NvidiaSigns& signs) {
  std::string version(trim(host.read_file("/sys/module/nvidia/version", 64).value_or("")));
  signs.kernel_source = "sysfs";
  if (version.empty()) {
    version = parse_nvidia_proc_version(host.read_file("/proc/driver/nvidia/version").value_or(""));
    signs.kernel_source = "procfs";
  }
  signs.kernel_version = sanitise(version);
  if (signs.kernel_version.empty()) signs.kernel_source.clear();
}

}  // namespace

NvidiaSigns look_for_nvidia(Host& host, const std::vector<DisplayDevice>& bus, const Os& os) {
  NvidiaSigns signs;
  LibrarySearch libraries(host);
  for (const DisplayDevice& device : bus) {
    if (device.vendor != GpuVendor::nvidia) continue;
    const std::string folder = "/proc/driver/nvidia/gpus/" + device.address;
    signs.devices.push_back(device);
    signs.models.push_back(
        parse_nvidia_model(host.read_file(folder + "/information").value_or("")));
  }
  look_at_nodes(host, signs);
  look_for_wsl(host, signs);
  look_for_jetson(host, os, signs);
  signs.libraries =
      !libraries.find("libcuda.so.1").empty() || !libraries.find("libnvidia-ml.so.1").empty();
  if (signs.seen()) read_kernel_version(host, signs);
  return signs;
}

}  // namespace axle::detect
