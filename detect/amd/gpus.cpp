#include "detect/amd/gpus.h"

#include <algorithm>
#include <utility>

#include "detect/drivers/visible_devices.h"

namespace axle::detect {
namespace {

constexpr GpuVendor vendor = GpuVendor::amd;

constexpr std::string_view install_hint = "load the amdgpu kernel driver (modprobe amdgpu)";

struct Judgement {
  Presence usable = Presence::present;
  Failure failure;
};

Judgement blocked(std::string code, std::string message, std::string hint) {
  return {Presence::blocked, {std::move(code), std::move(message), std::move(hint)}};
}

std::optional<Judgement> judge_node(NodeState state, const std::string& path) {
  if (state == NodeState::missing) {
    return blocked("no-device-nodes", path + " does not exist here",
                   "in a container: pass --device /dev/kfd --device /dev/dri");
  }
  if (state == NodeState::refused) {
    return blocked("no-permission", path + " cannot be opened by this user",
                   "add the user to the groups render and video");
  }
  return std::nullopt;
}

Judgement judge_device(const AmdSigns& signs, const AmdDevice& device) {
  const Judgement unsupported{Presence::absent, {"unsupported-gpu", "ROCm cannot use the GPU", ""}};
  if (device.on_bus && device.driver == "radeon") return unsupported;
  if (device.on_bus) {
    if (auto failure = judge_kernel_driver(device.driver, "amdgpu", install_hint)) {
      return {Presence::blocked, *failure};
    }
  }
  if (!signs.topology) {
    return blocked("no-compute", "the kernel has no compute topology (/sys/class/kfd)",
                   "use a kernel with CONFIG_HSA_AMD, or mount /sys in the container");
  }
  if (!device.in_topology && signs.refused_nodes == 0) return unsupported;
  if (device.withheld || !device.in_topology) {
    return blocked("not-listed", "the GPU was not passed to this container",
                   "pass its /dev/dri/renderD node to the container");
  }
  if (render_gfx(device.node.gfx_target_version).empty()) return unsupported;
  if (auto judged = judge_node(signs.kfd_node, "/dev/kfd")) return *judged;
  const std::string node = "/dev/dri/renderD" + std::to_string(device.node.drm_render_minor);
  if (auto judged = judge_node(device.render_node, node)) return *judged;
  return {};
}

void note_sources(Gpu& gpu, const AmdDevice& device, bool name_spoken, bool memory_spoken) {
  note_source(gpu.sources, "pci_address", gpu.pci_address, device.in_topology ? "kfd" : "sysfs");
  note_source(gpu.sources, "name", gpu.name, name_spoken ? "rocm-smi" : "sysfs");
  note_source(gpu.sources, "arch", gpu.arch, "kfd");
  note_source(gpu.sources, "target_id", gpu.target_id, "kfd");
  if (gpu.integrated) {
    gpu.sources["integrated"] = is_integrated_gfx(gpu.arch) ? "gfx-table" : "sysfs";
  }
  if (gpu.memory_bytes) {
    note_source(gpu.sources, "memory_bytes", "known", memory_spoken ? "rocm-smi" : "sysfs");
  }
}

/// Programs see the overridden version, so it decides the choice.
void apply_override(Gpu& gpu, const AmdDevice& device, const AmdEnvironment& environment) {
  const auto own = environment.node_overrides.find(device.node_number);
  const bool by_node = own != environment.node_overrides.end();
  const std::string& gfx = by_node ? own->second : environment.gfx_override;
  if (gfx.empty() || gfx == gpu.arch) return;
  const std::string variable = by_node ? "HSA_OVERRIDE_GFX_VERSION_" + std::to_string(own->first)
                                       : "HSA_OVERRIDE_GFX_VERSION";
  gpu.reason_code = "gfx-override";
  gpu.reason = gpu.arch + " taken as " + gfx + " by " + variable;
  gpu.arch = gfx;
  gpu.target_id.clear();
  gpu.sources.erase("target_id");
  gpu.sources["arch"] = variable;
}

Gpu describe_gpu(const AmdSigns& signs, const AmdDevice& device, const SmiAnswer& said,
                 const AmdEnvironment& environment) {
  Gpu gpu;
  gpu.vendor = vendor;
  if (device.on_bus)
    describe_place(gpu, {vendor, device.pci_address, device.device_id, device.driver});
  gpu.pci_address = device.pci_address;
  if (gpu.pci_id.empty() && device.node.device_id != 0 && device.node.device_id <= 0xFFFF) {
    gpu.pci_id = render_pci_id(0x1002, static_cast<std::uint32_t>(device.node.device_id));
    note_source(gpu.sources, "pci_id", gpu.pci_id, "kfd");
  }
  gpu.name = device.name;
  gpu.arch = render_gfx(device.node.gfx_target_version);
  gpu.target_id = render_target_id(device.node);
  gpu.integrated = device.integrated;
  std::uint64_t memory = device.memory;
  bool name_spoken = false;
  const auto spoken = std::ranges::find(said.devices, device.pci_address, &SmiDevice::pci_address);
  if (spoken != said.devices.end()) {
    name_spoken = gpu.name.empty();
    if (name_spoken) gpu.name = spoken->name;
    if (memory == 0) memory = spoken->memory;
  }
  if (memory > 0) gpu.memory_bytes = memory;
  note_sources(gpu, device, name_spoken, device.memory == 0);
  const Judgement judgement = judge_device(signs, device);
  gpu.usable = judgement.usable;
  if (judgement.usable != Presence::present) {
    blame(gpu, judgement.usable, judgement.failure);
  } else {
    apply_override(gpu, device, environment);
  }
  return gpu;
}

/// A GPU in the topology's order, which masks refer to.
struct Numbered {
  Gpu* gpu;
  std::string uuid;
};

/// ROCR_VISIBLE_DEVICES selects from the topology's GPUs, HIP_VISIBLE_DEVICES from the remaining
/// ones.
void apply_masks(std::vector<Numbered> order, const AmdEnvironment& environment) {
  const std::pair<const std::optional<std::string>*, std::string> masks[] = {
      {&environment.rocr_visible_devices, "ROCR_VISIBLE_DEVICES"},
      {&environment.hip_visible_devices, environment.hip_variable}};
  for (const auto& [mask, variable] : masks) {
    if (!*mask) continue;
    std::vector<std::string> uuids;
    for (const Numbered& each : order) uuids.push_back(each.uuid);
    const std::vector<bool> visible = visible_by_list(**mask, uuids);
    std::vector<Numbered> left;
    for (std::size_t i = 0; i < order.size(); ++i) {
      order[i].gpu->masked = !visible[i];
      if (visible[i]) {
        left.push_back(order[i]);
      } else {
        order[i].gpu->sources["masked"] = variable;
      }
    }
    order = std::move(left);
  }
}

std::string describe_masks(const AmdEnvironment& environment) {
  std::string names;
  if (environment.rocr_visible_devices) names = "ROCR_VISIBLE_DEVICES";
  if (!environment.hip_visible_devices) return names;
  return names + (names.empty() ? "" : " or ") + environment.hip_variable;
}

void judge_driver(VendorFindings& findings, const AmdSigns& signs, const SmiAnswer& said) {
  Driver& driver = findings.driver.emplace();
  driver.vendor = vendor;
  driver.kernel_version = signs.kernel_version.empty() ? said.driver_version : signs.kernel_version;
  driver.api_version = signs.rocm_version;
  driver.api_source = signs.rocm_source;
  note_source(driver.sources, "kernel_version", driver.kernel_version,
              signs.kernel_version.empty() ? "rocm-smi" : "sysfs");
  note_source(driver.sources, "api_version", driver.api_version, driver.api_source);
  const auto usable = [](const Gpu& gpu) { return gpu.usable == Presence::present; };
  if (std::ranges::any_of(findings.gpus, usable)) {
    driver.usable = Presence::present;
    return;
  }
  const auto stopped = std::ranges::find(findings.gpus, Presence::blocked, &Gpu::usable);
  const Gpu& gpu = stopped == findings.gpus.end() ? findings.gpus.front() : *stopped;
  driver.usable = gpu.usable;
  driver.reason_code = gpu.reason_code;
  driver.reason = gpu.reason;
}

/// WSL's kernel has no KFD, so the presence of a GPU is only likely.
void describe_wsl(VendorFindings& findings, const AmdSigns& signs) {
  const Failure failure{
      "wsl-no-topology",
      "ROCm is installed, but under WSL the kernel does not report which AMD GPU is present",
      "specify it with --for, for example --for 'amd:gfx=gfx1100'"};
  Gpu gpu;
  gpu.vendor = vendor;
  blame(gpu, Presence::unknown, failure);
  findings.gpus.push_back(std::move(gpu));
  Driver& driver = findings.driver.emplace();
  driver.vendor = vendor;
  driver.api_version = signs.rocm_version;
  driver.api_source = signs.rocm_source;
  note_source(driver.sources, "api_version", driver.api_version, driver.api_source);
  blame(driver, Presence::unknown, failure);
  add_problem(findings, vendor, failure);
}

}  // namespace

VendorFindings judge_amd(const AmdSigns& signs, const DriverAnswer* answer,
                         std::chrono::milliseconds time_limit, const AmdEnvironment& environment) {
  VendorFindings findings;
  SmiAnswer said;
  if (answer != nullptr) {
    said = read_smi_lines(parse_driver_lines(answer->lines));
    // SMI's facts are not needed for the choice, but its failure is worth reporting.
    if (const auto failure = judge_end(*answer, vendor, said.step, time_limit)) {
      add_problem(findings, vendor, *failure);
    }
  }
  if (!said.refused.empty()) add_problem(findings, vendor, untrusted_library(said.refused));
  if (signs.wsl) describe_wsl(findings, signs);
  if (signs.devices.empty()) return findings;
  findings.gpus.reserve(signs.devices.size());
  std::vector<Numbered> numbered;
  for (const AmdDevice& device : signs.devices) {
    findings.gpus.push_back(describe_gpu(signs, device, said, environment));
    if (device.in_topology && !device.withheld) {
      numbered.push_back({&findings.gpus.back(), render_amd_uuid(device.node.unique_id)});
    }
  }
  apply_masks(std::move(numbered), environment);
  judge_driver(findings, signs, said);
  const bool works = findings.driver->usable == Presence::present;
  for (const AmdDevice& device : signs.devices) {
    const Judgement judgement = judge_device(signs, device);
    if (judgement.usable != Presence::blocked) continue;
    if (works && judgement.failure.code == "not-listed") continue;
    add_problem(findings, vendor, judgement.failure);
  }
  tell_all_masked(findings, vendor, describe_masks(environment));
  return findings;
}

}  // namespace axle::detect
