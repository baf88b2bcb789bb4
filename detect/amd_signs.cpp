#include <algorithm>

#include "detect/amd_gpus.h"
#include "detect/driver_lines.h"
#include "detect/library_search.h"

namespace axle::detect {
namespace {

constexpr std::uint64_t amd_vendor_id = 0x1002;
const std::string nodes_folder = "/sys/class/kfd/kfd/topology/nodes";

std::string strip(std::string text) {
  while (text.ends_with('\n') || text.ends_with(' ')) text.pop_back();
  return text;
}

NodeState state_of(Host& host, const std::string& path) {
  if (!host.accessible(path, Access::exists)) return NodeState::missing;
  return host.accessible(path, Access::read_write) ? NodeState::open : NodeState::refused;
}

/// Numbers of the topology's nodes in numeric order.
std::vector<std::int64_t> node_numbers(Host& host) {
  std::vector<std::int64_t> numbers;
  for (const std::string& name : host.list_folder(nodes_folder)) {
    if (const auto number = parse_integer(name)) numbers.push_back(*number);
  }
  std::ranges::sort(numbers);
  return numbers;
}

void read_topology(Host& host, AmdSigns& signs) {
  for (const std::int64_t number : node_numbers(host)) {
    signs.topology = true;
    const std::string folder = nodes_folder + '/' + std::to_string(number);
    const auto properties = host.read_file(folder + "/properties");
    AmdDevice device;
    device.node = parse_kfd_properties(properties.value_or(""));
    if (device.node.simd_count == 0 || device.node.vendor_id != amd_vendor_id) continue;
    device.in_topology = true;
    device.pci_address = pci_address_of(device.node);
    const std::string id = strip(host.read_file(folder + "/gpu_id").value_or(""));
    device.withheld = id.empty() || id == "0";
    device.render_node =
        state_of(host, "/dev/dri/renderD" + std::to_string(device.node.drm_render_minor));
    signs.devices.push_back(std::move(device));
  }
}

void read_bus_facts(Host& host, AmdDevice& device) {
  const std::string folder = pci_folder(device.pci_address);
  device.name = sanitise(strip(host.read_file(folder + "/product_name").value_or("")));
  const auto memory =
      parse_integer(strip(host.read_file(folder + "/mem_info_vram_total").value_or("")));
  if (memory && *memory > 0) device.memory = static_cast<std::uint64_t>(*memory);
  // amdgpu shows these two for cards only; an APU's memory is a carve-out of the system's.
  const bool card = host.accessible(folder + "/mem_info_vram_vendor", Access::exists) ||
                    host.accessible(folder + "/board_info", Access::exists);
  device.integrated = device.driver == "amdgpu" && device.memory > 0 && !card;
}

void read_bus(Host& host, const std::vector<DisplayDevice>& bus, AmdSigns& signs) {
  for (const DisplayDevice& seen : bus) {
    if (seen.vendor != GpuVendor::amd) continue;
    auto found = std::ranges::find(signs.devices, seen.address, &AmdDevice::pci_address);
    if (found == signs.devices.end()) {
      found = signs.devices.insert(signs.devices.end(), AmdDevice{});
      found->pci_address = seen.address;
    }
    found->on_bus = true;
    found->driver = seen.driver;
    read_bus_facts(host, *found);
  }
}

void read_rocm_version(Host& host, AmdSigns& signs) {
  std::vector<std::string> folders;
  if (const auto path = host.environment("ROCM_PATH"); path && !path->empty())
    folders.push_back(*path);
  folders.emplace_back("/opt/rocm");
  for (const std::string& name : host.list_folder("/opt")) {
    if (name.starts_with("rocm-")) folders.push_back("/opt/" + name);
  }
  for (const std::string& folder : folders) {
    signs.rocm_version = parse_rocm_version(host.read_file(folder + "/.info/version").value_or(""));
    signs.rocm_source = "rocm-info";
    if (!signs.rocm_version.empty()) return;
  }
  for (const char* name : {"libamdhip64.so.7", "libamdhip64.so.6", "libamdhip64.so.5"}) {
    const std::string path = find_library(host, name);
    const std::string target = path.empty() ? "" : host.read_link(path).value_or("");
    signs.rocm_version = parse_hip_library_name(target);
    signs.rocm_source = "libamdhip64";
    if (!signs.rocm_version.empty()) return;
  }
  signs.rocm_source.clear();
}

bool has_library(Host& host, bool hardware) {
  constexpr std::string_view names[] = {"librocm_smi64.so.7", "librocm_smi64.so.6",
                                        "librocm_smi64.so.5", "librocm_smi64.so.1"};
  return std::ranges::any_of(names, [&](std::string_view name) {
    return hardware ? !find_library(host, name).empty() : !find_on_library_path(host, name).empty();
  });
}

}  // namespace

AmdSigns look_for_amd(Host& host, const std::vector<DisplayDevice>& bus) {
  AmdSigns signs;
  read_topology(host, signs);
  read_bus(host, bus, signs);
  const bool hardware = !signs.devices.empty();
  signs.library = has_library(host, hardware);
  if (!hardware) return signs;
  signs.kfd_node = state_of(host, "/dev/kfd");
  signs.kernel_version = sanitise(strip(host.read_file("/sys/module/amdgpu/version").value_or("")));
  read_rocm_version(host, signs);
  return signs;
}

AmdEnvironment read_amd_environment(Host& host) {
  AmdEnvironment environment;
  environment.rocr_visible_devices = host.environment("ROCR_VISIBLE_DEVICES");
  environment.hip_visible_devices = host.environment("HIP_VISIBLE_DEVICES");
  if (!environment.hip_visible_devices) {
    environment.hip_visible_devices = host.environment("CUDA_VISIBLE_DEVICES");
  }
  environment.gfx_override =
      parse_gfx_override(host.environment("HSA_OVERRIDE_GFX_VERSION").value_or(""));
  return environment;
}

}  // namespace axle::detect
