#include "detect/amd_gpus.h"

#include <algorithm>

#include "detect/visible_devices.h"

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
  const Judgement unsupported{Presence::absent,
                              {"unsupported-gpu", "the GPU cannot compute under ROCm", ""}};
  if (device.on_bus && device.driver == "radeon") return unsupported;
  if (device.on_bus) {
    if (auto failure = judge_kernel_driver(device.driver, "amdgpu", install_hint)) {
      return {Presence::blocked, *failure};
    }
  }
  if (!signs.topology) {
    return blocked("no-compute", "the kernel shows no compute topology (/sys/class/kfd)",
                   "use a kernel with CONFIG_HSA_AMD, or mount /sys in the container");
  }
  if (!device.in_topology) return unsupported;
  if (device.withheld) {
    return blocked("not-listed", "the GPU is not one of those given to this container",
                   "pass its /dev/dri/renderD node to the container");
  }
  if (render_gfx(device.node.gfx_target_version).empty()) return unsupported;
  if (auto judged = judge_node(signs.kfd_node, "/dev/kfd")) return *judged;
  const std::string node = "/dev/dri/renderD" + std::to_string(device.node.drm_render_minor);
  if (auto judged = judge_node(device.render_node, node)) return *judged;
  return {};
}

Gpu describe_gpu(const AmdSigns& signs, const AmdDevice& device, const SmiAnswer& said,
                 const std::string& gfx_override) {
  Gpu gpu;
  gpu.vendor = vendor;
  gpu.pci_address = device.pci_address;
  gpu.name = device.name;
  gpu.arch = render_gfx(device.node.gfx_target_version);
  gpu.integrated = device.integrated;
  std::uint64_t memory = device.memory;
  const auto spoken = std::ranges::find(said.devices, device.pci_address, &SmiDevice::pci_address);
  if (spoken != said.devices.end()) {
    if (gpu.name.empty()) gpu.name = spoken->name;
    if (memory == 0) memory = spoken->memory;
  }
  if (memory > 0) gpu.memory_bytes = memory;
  const Judgement judgement = judge_device(signs, device);
  gpu.usable = judgement.usable;
  if (judgement.usable != Presence::present) {
    blame(gpu, judgement.usable, judgement.failure);
  } else if (!gfx_override.empty() && gfx_override != gpu.arch) {
    // Programs see what the override says, so that is what selects.
    gpu.reason_code = "gfx-override";
    gpu.reason = gpu.arch + " taken as " + gfx_override + " by HSA_OVERRIDE_GFX_VERSION";
    gpu.arch = gfx_override;
  }
  return gpu;
}

/// ROCR_VISIBLE_DEVICES picks from the topology's GPUs, HIP_VISIBLE_DEVICES from what it leaves.
void apply_masks(std::vector<Gpu*> order, const AmdEnvironment& environment) {
  for (const auto* mask : {&environment.rocr_visible_devices, &environment.hip_visible_devices}) {
    if (!*mask) continue;
    const std::vector<bool> visible =
        visible_by_list(**mask, std::vector<std::string>(order.size()));
    std::vector<Gpu*> left;
    for (std::size_t i = 0; i < order.size(); ++i) {
      order[i]->masked = !visible[i];
      if (visible[i]) left.push_back(order[i]);
    }
    order = std::move(left);
  }
}

void judge_driver(VendorFindings& findings, const AmdSigns& signs, const SmiAnswer& said) {
  Driver& driver = findings.driver.emplace();
  driver.vendor = vendor;
  driver.kernel_version = signs.kernel_version.empty() ? said.driver_version : signs.kernel_version;
  driver.api_version = signs.rocm_version;
  driver.api_source = signs.rocm_source;
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

}  // namespace

VendorFindings judge_amd(const AmdSigns& signs, const DriverAnswer* answer,
                         std::chrono::milliseconds time_limit, const AmdEnvironment& environment) {
  VendorFindings findings;
  SmiAnswer said;
  if (answer != nullptr) {
    said = read_smi_lines(parse_driver_lines(answer->lines));
    // What SMI would have added is not needed to select; that it fell is worth knowing.
    if (const auto failure = judge_end(*answer, vendor, said.step, time_limit)) {
      add_problem(findings, vendor, *failure);
    }
  }
  if (signs.devices.empty()) return findings;
  findings.gpus.reserve(signs.devices.size());
  std::vector<Gpu*> numbered;
  for (const AmdDevice& device : signs.devices) {
    findings.gpus.push_back(describe_gpu(signs, device, said, environment.gfx_override));
    if (device.in_topology && !device.withheld) numbered.push_back(&findings.gpus.back());
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
  return findings;
}

}  // namespace axle::detect
