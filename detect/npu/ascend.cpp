#include <algorithm>

#include "detect/device_node.h"
#include "detect/drivers/driver_lines.h"
#include "detect/npu/ascend_facts.h"
#include "detect/npu/npus.h"

namespace axle::detect {
namespace {

/// "davinci0": one per device.
bool is_device_node(std::string_view name) {
  constexpr std::string_view prefix = "davinci";
  return name.size() > prefix.size() && name.starts_with(prefix) &&
         name.find_first_not_of("0123456789", prefix.size()) == std::string_view::npos;
}

struct AscendSigns {
  std::vector<AcceleratorDevice> devices;  ///< on the bus
  std::vector<std::string> nodes;          ///< "/dev/davinci0", …
  std::string driver_version;              ///< from the driver's own file
  std::string toolkit_version;
  std::string toolkit_source;
};

AscendSigns look_for_ascend(Host& host, const std::vector<AcceleratorDevice>& devices) {
  AscendSigns signs;
  for (const AcceleratorDevice& device : devices) {
    if (device.kind == NpuKind::ascend) signs.devices.push_back(device);
  }
  const bool managed = host.accessible("/dev/davinci_manager", Access::exists);
  if (signs.devices.empty() && !managed) return signs;
  for (const std::string& name : host.list_folder("/dev")) {
    if (is_device_node(name)) signs.nodes.push_back("/dev/" + name);
  }
  return signs;
}

void read_versions(Host& host, AscendSigns& signs) {
  signs.driver_version = parse_ascend_version(
      host.read_file("/usr/local/Ascend/driver/version.info", 4096).value_or(""));
  std::string home = host.environment("ASCEND_TOOLKIT_HOME").value_or("");
  signs.toolkit_source = "ASCEND_TOOLKIT_HOME";
  if (home.empty()) {
    home = "/usr/local/Ascend/ascend-toolkit/latest";
    signs.toolkit_source = "install-info";
  }
  const std::string folder = home + '/' + host.system_name().machine + "-linux";
  signs.toolkit_version = parse_ascend_version(
      host.read_file(folder + "/ascend_toolkit_install.info", 4096).value_or(""));
}

/// Why the nodes cannot be used; nullopt if they can.
std::optional<Failure> judge_nodes(Host& host, const AscendSigns& signs) {
  const std::string hint =
      "in a container: pass /dev/davinci*, /dev/davinci_manager, /dev/devmm_svm and /dev/hisi_hdc "
      "with --device";
  if (signs.nodes.empty()) {
    const bool bound = std::ranges::any_of(
        signs.devices, [](const AcceleratorDevice& device) { return !device.driver.empty(); });
    if (!bound && !signs.devices.empty()) {
      return Failure{"no-kernel-driver", "no kernel driver is bound to the Ascend NPU",
                     "install Huawei's Ascend HDK driver"};
    }
    return Failure{"no-device-nodes", "there is an Ascend NPU, but no /dev/davinci<n> here", hint};
  }
  std::vector<std::string> wanted{"/dev/davinci_manager", "/dev/devmm_svm", "/dev/hisi_hdc"};
  wanted.push_back(signs.nodes.front());
  for (const std::string& node : wanted) {
    const NodeState state = look_at_node(host, node);
    if (state == NodeState::missing) {
      return Failure{"no-device-nodes", node + " does not exist here", hint};
    }
    if (state == NodeState::refused) {
      return Failure{"no-permission", node + " cannot be opened by this user",
                     "add the user to the group HwHiAiUser"};
    }
  }
  return std::nullopt;
}

/// The output of `npu-smi info`; nullopt if it is not installed. Runs with the caller's library
/// path, as in the published provider.
std::optional<ProgramAnswer> ask_tool(Host& host, std::chrono::milliseconds limit) {
  for (const std::string_view file : npu_smi_files) {
    const std::string path(file);
    if (host.accessible(path, Access::exists)) return host.run_program(path + " info", limit);
  }
  return std::nullopt;
}

/// Why the tool lists no device, or not all of them.
Failure judge_tool(const std::optional<ProgramAnswer>& answer, std::chrono::milliseconds limit) {
  if (answer && !answer->finished) {
    return {"driver-hangs",
            "npu-smi did not answer within " + std::to_string(limit.count()) + " ms",
            "give it more time with AXLE_DRIVER_TIMEOUT, or check the kernel log (dmesg)"};
  }
  const std::string what = answer ? "npu-smi did not list the Ascend NPU" : "there is no npu-smi";
  return {"no-tool", what + ", so the NPU's type is unknown",
          "install Huawei's driver tools, or mount npu-smi and /usr/local/Ascend/driver into the "
          "container"};
}

Npu describe(const AscendSigns& signs) {
  Npu npu;
  npu.kind = NpuKind::ascend;
  npu.driver_version = signs.driver_version;
  npu.toolkit_version = signs.toolkit_version;
  note_source(npu.sources, "driver_version", npu.driver_version, "version-info");
  note_source(npu.sources, "toolkit_version", npu.toolkit_version, signs.toolkit_source);
  return npu;
}

Npu describe(const AscendSigns& signs, const AscendTool& tool, const AscendDevice& device) {
  Npu npu = describe(signs);
  npu.name = device.name;
  npu.type = ascend_type_of(device.name);
  npu.pci_address = device.pci_address;
  note_source(npu.sources, "name", npu.name, "npu-smi");
  note_source(npu.sources, "type", npu.type, "npu-smi");
  note_source(npu.sources, "pci_address", npu.pci_address, "npu-smi");
  if (!tool.version.empty()) {
    npu.driver_version = tool.version;
    npu.sources["driver_version"] = "npu-smi";
  }
  npu.usable = Presence::present;
  return npu;
}

/// Devices that only the bus or the nodes show; those `told` by the tool are skipped.
void add_unlisted(const AscendSigns& signs, const std::vector<AscendDevice>& told,
                  const Failure& failure, Presence usable, Machine& machine) {
  const std::size_t count = std::max(signs.devices.size(), std::size_t{told.empty() ? 1U : 0U});
  for (std::size_t i = 0; i < count; ++i) {
    const auto same = [&](const AscendDevice& device) {
      return device.pci_address == signs.devices[i].address;
    };
    if (i < signs.devices.size() && std::ranges::any_of(told, same)) continue;
    Npu npu = describe(signs);
    if (i < signs.devices.size()) {
      npu.pci_address = signs.devices[i].address;
      note_source(npu.sources, "pci_address", npu.pci_address, "sysfs");
    }
    if (failure.code == "not-asked") {
      npu.reason_code = failure.code;
      npu.reason = failure.message;
    } else {
      blame(machine, npu, usable, failure);
    }
    machine.npus.push_back(std::move(npu));
  }
}

}  // namespace

void probe_ascend(Host& host, const std::vector<AcceleratorDevice>& devices, ToolLimit limit,
                  Machine& machine) {
  AscendSigns signs = look_for_ascend(host, devices);
  if (signs.devices.empty() && signs.nodes.empty()) return;
  read_versions(host, signs);
  if (const auto failure = judge_nodes(host, signs)) {
    return add_unlisted(signs, {}, *failure, Presence::blocked, machine);
  }
  if (!limit) return add_unlisted(signs, {}, not_asked(), Presence::unknown, machine);
  const auto answer = ask_tool(host, *limit);
  const AscendTool tool = parse_npu_smi(answer.value_or(ProgramAnswer{}).text);
  const bool whole = answer && answer->finished;
  if (tool.devices.empty() || !whole) {
    const Presence usable = whole || !answer ? Presence::unknown : Presence::blocked;
    add_unlisted(signs, tool.devices, judge_tool(answer, *limit), usable, machine);
  }
  for (const AscendDevice& device : tool.devices) {
    Npu npu = describe(signs, tool, device);
    if (device.health == "Alarm" || device.health == "Critical") {
      blame(machine, npu, Presence::blocked,
            {"unhealthy", "npu-smi reports the state " + device.health + " for an Ascend NPU",
             "see npu-smi info -t health"});
    } else if (npu.toolkit_version.empty()) {
      blame(machine, npu, Presence::present,
            {"no-toolkit", "the Ascend NPU works, but CANN was not found",
             "source CANN's set_env.sh, which sets ASCEND_TOOLKIT_HOME"});
    }
    machine.npus.push_back(std::move(npu));
  }
}

}  // namespace axle::detect
