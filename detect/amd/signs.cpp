#include <algorithm>

#include "detect/amd/gpus.h"
#include "detect/drivers/driver_lines.h"
#include "detect/drivers/library_search.h"
#include "detect/text_pieces.h"

namespace axle::detect {
namespace {

constexpr std::uint64_t amd_vendor_id = 0x1002;
const std::string nodes_folder = "/sys/class/kfd/kfd/topology/nodes";

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
    if (!properties) {
      ++signs.refused_nodes;
      continue;
    }
    AmdDevice device;
    device.node_number = number;
    device.node = parse_kfd_properties(*properties);
    if (device.node.simd_count == 0 || device.node.vendor_id != amd_vendor_id) continue;
    device.in_topology = true;
    device.pci_address = pci_address_of(device.node);
    const std::string id(trim(host.read_file(folder + "/gpu_id").value_or("")));
    device.withheld = id.empty() || id == "0";
    device.render_node =
        look_at_node(host, "/dev/dri/renderD" + std::to_string(device.node.drm_render_minor));
    signs.devices.push_back(std::move(device));
  }
}

bool is_integrated(Host& host, const AmdDevice& device) {
  const std::string gfx = render_gfx(device.node.gfx_target_version);
  // The MI300A is both the processor and the GPU.
  if (gfx == "gfx942") return false;
  if (is_integrated_gfx(gfx)) return true;
  const std::string folder = pci_folder(device.pci_address);
  // amdgpu shows these two only for cards; an APU's memory is a carve-out of the system's.
  if (host.accessible(folder + "/mem_info_vram_vendor", Access::exists) ||
      host.accessible(folder + "/board_info", Access::exists)) {
    return false;
  }
  if (device.driver != "amdgpu" || device.memory == 0) return false;
  // Older kernels show neither: little dedicated memory, and much more of the system's.
  constexpr std::int64_t gibibyte = std::int64_t{1} << 30U;
  const auto shared =
      parse_integer(trim(host.read_file(folder + "/mem_info_gtt_total").value_or("")));
  if (!shared) return true;
  const auto own = static_cast<std::int64_t>(device.memory);
  return own <= 4 * gibibyte && *shared >= 8 * gibibyte && *shared >= 4 * own;
}

void read_bus_facts(Host& host, AmdDevice& device) {
  const std::string folder = pci_folder(device.pci_address);
  device.name = sanitise(trim(host.read_file(folder + "/product_name").value_or("")));
  const auto memory =
      parse_integer(trim(host.read_file(folder + "/mem_info_vram_total").value_or("")));
  if (memory && *memory > 0) device.memory = static_cast<std::uint64_t>(*memory);
  device.integrated = is_integrated(host, device);
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
    found->device_id = seen.device;
    read_bus_facts(host, *found);
  }
}

std::string read_rocm_info(Host& host, const std::string& folder) {
  for (const char* name : {"/.info/version", "/.info/version-dev"}) {
    std::string version = parse_rocm_version(host.read_file(folder + name, 128).value_or(""));
    if (!version.empty()) return version;
  }
  return {};
}

/// The newest of the versions installed side by side in /opt/rocm-<version>.
std::string read_newest_rocm(Host& host) {
  std::pair<std::int64_t, std::int64_t> newest{-1, -1};
  std::string found;
  for (const std::string& name : host.list_folder("/opt")) {
    if (!name.starts_with("rocm-")) continue;
    const std::string version = read_rocm_info(host, "/opt/" + name);
    const std::size_t dot = version.find('.');
    if (dot == std::string::npos) continue;
    const std::pair numbers{parse_integer(version.substr(0, dot)).value_or(0),
                            parse_integer(version.substr(dot + 1)).value_or(0)};
    if (numbers <= newest) continue;
    newest = numbers;
    found = version;
  }
  return found;
}

void read_rocm_version(Host& host, LibrarySearch& libraries, AmdSigns& signs) {
  signs.rocm_source = "rocm-info";
  const std::string chosen = host.environment("ROCM_PATH").value_or("");
  if (!chosen.empty()) signs.rocm_version = read_rocm_info(host, chosen);
  if (signs.rocm_version.empty()) signs.rocm_version = read_rocm_info(host, "/opt/rocm");
  if (signs.rocm_version.empty()) signs.rocm_version = read_newest_rocm(host);
  if (!signs.rocm_version.empty()) return;
  for (const char* name : {"libamdhip64.so.7", "libamdhip64.so.6", "libamdhip64.so.5"}) {
    const std::string path = libraries.find(name);
    const std::string target = path.empty() ? "" : host.read_link(path).value_or("");
    signs.rocm_version = parse_hip_library_name(target);
    signs.rocm_source = "libamdhip64";
    if (!signs.rocm_version.empty()) return;
  }
  signs.rocm_source.clear();
}

bool has_library(LibrarySearch& libraries, bool hardware) {
  constexpr std::string_view names[] = {"librocm_smi64.so.7", "librocm_smi64.so.6",
                                        "librocm_smi64.so.5", "librocm_smi64.so.1"};
  return std::ranges::any_of(names, [&](std::string_view name) {
    return hardware ? !libraries.find(name).empty() : !libraries.find_on_path(name).empty();
  });
}

}  // namespace

AmdSigns look_for_amd(Host& host, const std::vector<DisplayDevice>& bus) {
  AmdSigns signs;
  LibrarySearch libraries(host);
  read_topology(host, signs);
  read_bus(host, bus, signs);
  const bool hardware = !signs.devices.empty();
  signs.library = has_library(libraries, hardware);
  signs.wsl = !hardware && !signs.topology && host.accessible("/dev/dxg", Access::exists) &&
              !libraries.find("libhsa-runtime64.so.1").empty();
  if (signs.wsl) read_rocm_version(host, libraries, signs);
  if (!hardware) return signs;
  signs.kfd_node = look_at_node(host, "/dev/kfd");
  signs.kernel_version = sanitise(trim(host.read_file("/sys/module/amdgpu/version").value_or("")));
  read_rocm_version(host, libraries, signs);
  return signs;
}

AmdEnvironment read_amd_environment(Host& host, const AmdSigns& signs) {
  AmdEnvironment environment;
  environment.rocr_visible_devices = host.environment("ROCR_VISIBLE_DEVICES");
  for (const char* name : {"HIP_VISIBLE_DEVICES", "CUDA_VISIBLE_DEVICES", "GPU_DEVICE_ORDINAL"}) {
    environment.hip_visible_devices = host.environment(name);
    environment.hip_variable = name;
    if (environment.hip_visible_devices) break;
  }
  const std::string variable = "HSA_OVERRIDE_GFX_VERSION";
  environment.gfx_override = parse_gfx_override(host.environment(variable).value_or(""));
  for (const AmdDevice& device : signs.devices) {
    if (!device.in_topology) continue;
    const std::string name = variable + '_' + std::to_string(device.node_number);
    std::string gfx = parse_gfx_override(host.environment(name).value_or(""));
    if (!gfx.empty()) environment.node_overrides[device.node_number] = std::move(gfx);
  }
  return environment;
}

}  // namespace axle::detect
