#include "detect/npu/npus.h"

#include <algorithm>
#include <tuple>

#include "detect/device_node.h"
#include "detect/npu/npu_models.h"

namespace axle::detect {
namespace {

std::string_view wanted_driver(NpuKind kind) {
  switch (kind) {
    case NpuKind::intel_npu:
      return "intel_vpu";
    case NpuKind::qualcomm:
      return "qaic";
    case NpuKind::ascend:
    case NpuKind::tpu:
      break;
  }
  return {};
}

/// The device node that programs open. Google's newer machines provide TPUs through VFIO; all
/// others create one in the kernel's accel class.
std::string node_of(Host& host, const AcceleratorDevice& device) {
  const std::string folder = pci_folder(device.address);
  if (device.kind == NpuKind::tpu && device.driver == "vfio-pci") {
    const std::string group = host.read_link(folder + "/iommu_group").value_or("");
    return group.empty() ? std::string() : "/dev/vfio/" + std::string(file_name(group));
  }
  for (const std::string& name : host.list_folder(folder + "/accel")) {
    if (!name.starts_with("accel")) continue;
    // Google's driver is older than the class's folder.
    return (device.kind == NpuKind::tpu ? "/dev/" : "/dev/accel/") + name;
  }
  return {};
}

std::optional<Failure> judge_device(Host& host, const AcceleratorDevice& device) {
  const std::string_view wanted = wanted_driver(device.kind);
  if (!wanted.empty()) {
    const std::string hint = "load its kernel driver (modprobe " + std::string(wanted) + ")";
    if (auto failure = judge_kernel_driver(device.driver, wanted, hint)) {
      failure->message = "the accelerator's kernel driver is missing: " + failure->message;
      return failure;
    }
  } else if (device.driver.empty()) {
    return Failure{"no-kernel-driver", "no kernel driver is bound to the accelerator",
                   "install the vendor's driver"};
  }
  const std::string node = node_of(host, device);
  if (node.empty()) {
    return Failure{"no-device-nodes", "the accelerator has no device node here",
                   "in a container: pass it with --device"};
  }
  switch (look_at_node(host, node)) {
    case NodeState::missing:
      return Failure{"no-device-nodes", node + " does not exist here",
                     "in a container: pass it with --device " + node};
    case NodeState::refused:
      return Failure{"no-permission", node + " cannot be opened by this user",
                     "add the user to the node's group (ls -l " + node + ")"};
    case NodeState::open:
      break;
  }
  return std::nullopt;
}

void name_by_table(const AcceleratorDevice& device, Npu& npu) {
  if (device.kind == NpuKind::tpu) {
    const NpuModel* const model = find_tpu(device.device);
    if (model != nullptr) npu.type = model->type;
    npu.name = npu.type.empty() ? "TPU v2 or v3" : "TPU " + npu.type;
  } else if (device.kind == NpuKind::intel_npu) {
    const NpuModel* const model = find_intel_npu(device.device);
    if (model != nullptr) npu.name = "NPU (" + std::string(model->type) + ")";
  } else if (device.kind == NpuKind::qualcomm) {
    npu.name = "Cloud AI 100";
  }
  note_source(npu.sources, "name", npu.name, "pci-id-table");
  note_source(npu.sources, "type", npu.type, "pci-id-table");
}

}  // namespace

void blame(Machine& machine, Npu& npu, Presence usable, const Failure& failure) {
  npu.usable = usable;
  npu.reason_code = failure.code;
  npu.reason = failure.hint.empty() ? failure.message : failure.message + "; " + failure.hint;
  const std::string code = std::string(render_npu_kind(npu.kind)) + '.' + failure.code;
  if (std::ranges::find(machine.problems, code, &Problem::code) != machine.problems.end()) return;
  machine.problems.push_back({code, failure.message, failure.hint});
}

void probe_npus(Host& host, const std::vector<AcceleratorDevice>& devices, ToolLimit limit,
                Machine& machine) {
  for (const AcceleratorDevice& device : devices) {
    if (device.kind == NpuKind::ascend) continue;
    Npu npu;
    npu.kind = device.kind;
    npu.pci_address = device.address;
    note_source(npu.sources, "pci_address", npu.pci_address, "sysfs");
    name_by_table(device, npu);
    if (const auto failure = judge_device(host, device)) {
      blame(machine, npu, Presence::blocked, *failure);
    } else {
      npu.usable = Presence::present;
    }
    machine.npus.push_back(std::move(npu));
  }
  probe_ascend(host, devices, limit, machine);
  std::ranges::sort(machine.npus, {}, [](const Npu& npu) {
    return std::tuple(npu.pci_address.empty(), npu.pci_address, npu.kind, npu.name);
  });
}

}  // namespace axle::detect
