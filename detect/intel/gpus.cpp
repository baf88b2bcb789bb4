#include "detect/intel/gpus.h"

#include <algorithm>
#include <utility>

#include "detect/drivers/visible_devices.h"
#include "detect/intel/facts.h"

namespace axle::detect {
namespace {

constexpr GpuVendor vendor = GpuVendor::intel;
constexpr const char* mask_variable = "ZE_AFFINITY_MASK";
constexpr std::uint32_t intel_vendor_id = 0x8086;
constexpr std::int64_t ze_uninitialized = 0x78000001;
constexpr std::int64_t ze_dependency_unavailable = 0x70020000;

constexpr std::string_view install_hint =
    "load the kernel driver of the GPU (modprobe xe, or i915)";

Failure no_user_driver(const std::string& message) {
  return {"no-user-driver", message,
          "install Intel's Level Zero GPU driver and loader (libze_intel_gpu, libze1)"};
}

std::optional<Failure> judge_files(const IntelDevice& device) {
  // Both xe and i915 are correct.
  const std::string_view wanted = device.bus.driver == "i915" ? "i915" : "xe";
  if (auto failure = judge_kernel_driver(device.bus.driver, wanted, install_hint)) return failure;
  if (!device.node_exists) {
    return Failure{"no-device-nodes", "the GPU has no /dev/dri/renderD node here",
                   "in a container: pass --device /dev/dri"};
  }
  if (!device.node_usable) {
    return Failure{"no-permission", device.render_node + " cannot be opened by this user",
                   "add the user to the group render"};
  }
  return std::nullopt;
}

/// Why Level Zero, after it finished, lists no device; nullopt if it does.
std::optional<Failure> judge_library(const LevelZeroAnswer& said) {
  if (!said.devices.empty()) return std::nullopt;
  if (!said.refused.empty()) return untrusted_library(said.refused);
  if (!said.missing.empty()) return no_user_driver("Level Zero cannot be loaded: " + said.missing);
  if (!said.missing_symbols.empty()) {
    return Failure{"missing-symbol", "the Level Zero loader lacks " + said.missing_symbols.front(),
                   "update or reinstall it (libze1)"};
  }
  if (said.init == ze_uninitialized) return no_user_driver("Level Zero finds no driver for a GPU");
  if (said.init == ze_dependency_unavailable) {
    return no_user_driver("a library that Intel's GPU driver needs is missing");
  }
  if (said.init && *said.init != 0) {
    return Failure{"driver-error", "Level Zero failed with " + std::to_string(*said.init),
                   "update or reinstall Intel's GPU driver"};
  }
  return Failure{"no-device", "Level Zero lists no GPU",
                 "update Intel's GPU driver: it may be older than the GPU"};
}

/// The only older GPU that is a card.
bool is_dg1(std::uint32_t device) { return device >= 0x4905 && device <= 0x4909; }

bool is_intel(const LevelZeroDevice& device) { return device.vendor_id == intel_vendor_id; }

/// The tables' verdict on a device whose driver does not report its IP.
void name_by_table(Gpu& gpu, std::uint32_t device) {
  const IntelModel* model = find_intel_model(device);
  if (model == nullptr) model = find_older_intel_model(device);
  if (model == nullptr) return;
  if (gpu.name.empty()) {
    gpu.name = model->name;
    note_source(gpu.sources, "name", gpu.name, "pci-id-table");
  }
  if (gpu.arch.empty()) {
    gpu.arch = model->ip;
    note_source(gpu.sources, "arch", gpu.arch, "pci-id-table");
  }
}

/// UHD, Iris and Iris Xe: SYCL may see them, but torch's XPU builds do not run on them.
void blame_generation(Gpu& gpu) {
  if (gpu.integrated) {
    blame(gpu, Presence::absent,
          {"integrated-unsupported", "integrated graphics older than those that XPU builds run on",
           ""});
  } else {
    blame(gpu, Presence::absent,
          {"unsupported-gpu", "the GPU is older than those that XPU builds run on", ""});
  }
}

const IntelDevice* find_on_bus(const IntelSigns& signs, const LevelZeroDevice& device) {
  const auto found = std::ranges::find_if(signs.devices, [&](const IntelDevice& seen) {
    // Old drivers do not report the PCI address.
    return device.pci_address.empty() ? seen.bus.device == device.device_id
                                      : seen.bus.address == device.pci_address;
  });
  return found == signs.devices.end() ? nullptr : &*found;
}

Gpu describe_gpu(const LevelZeroDevice& device, const IntelSigns& signs) {
  Gpu gpu;
  gpu.vendor = vendor;
  gpu.name = device.name;
  gpu.pci_address = device.pci_address;
  gpu.pci_id = render_pci_id(intel_vendor_id, device.device_id);
  gpu.arch = render_device_ip(device.ip);
  if (device.memory > 0) gpu.memory_bytes = device.memory;
  gpu.integrated = device.integrated;
  gpu.usable = Presence::present;
  note_source(gpu.sources, "name", gpu.name, "level-zero");
  note_source(gpu.sources, "pci_address", gpu.pci_address, "level-zero");
  note_source(gpu.sources, "pci_id", gpu.pci_id, "level-zero");
  note_source(gpu.sources, "arch", gpu.arch, "level-zero");
  if (gpu.memory_bytes) note_source(gpu.sources, "memory_bytes", "known", "level-zero");
  if (gpu.integrated) gpu.sources["integrated"] = "level-zero";
  if (const IntelDevice* seen = find_on_bus(signs, device)) describe_place(gpu, seen->bus);
  const bool known_older = find_older_intel_model(device.device_id) != nullptr;
  name_by_table(gpu, device.device_id);
  if (device.ip != 0 ? !is_xpu_ip(device.ip) : known_older) blame_generation(gpu);
  return gpu;
}

/// Level Zero was not queried because it is not installed, and everything else is fine. The wheels
/// contain SYCL, but not the driver that Level Zero needs.
const Failure& unconfirmed() {
  static const Failure failure{
      "unconfirmed",
      "the Intel GPU and its kernel driver are present, but Level Zero is not installed, so it "
      "could not be queried",
      "install Intel's Level Zero GPU driver and loader (libze_intel_gpu, libze1)"};
  return failure;
}

/// A GPU that Level Zero, queried or not, has not listed.
Gpu describe_unlisted(const IntelDevice& device, const std::optional<Failure>& failure) {
  Gpu gpu;
  gpu.vendor = vendor;
  describe_place(gpu, device.bus);
  name_by_table(gpu, device.bus.device);
  if (!device.candidate) {
    gpu.integrated = !is_dg1(device.bus.device);
    if (gpu.integrated) gpu.sources["integrated"] = "pci-id-table";
    blame_generation(gpu);
    return gpu;
  }
  const auto by_files = judge_files(device);
  const Failure reason = by_files  ? *by_files
                         : failure ? *failure
                                   : Failure{"not-listed", "Level Zero does not list this GPU",
                                             "update Intel's GPU driver"};
  const Presence usable = reason.code == "unconfirmed" ? Presence::present : usable_after(reason);
  blame(gpu, usable, reason);
  return gpu;
}

std::optional<Failure> judge(const IntelSigns& signs, const DriverAnswer* answer,
                             const LevelZeroAnswer& said, bool asked_for,
                             std::chrono::milliseconds time_limit) {
  // Queried or not: without a loader there is no answer.
  const bool nobody = answer == nullptr || !said.missing.empty();
  if (asked_for && nobody && !signs.loader && said.refused.empty()) return unconfirmed();
  if (answer == nullptr) return not_asked();
  if (auto failure = judge_end(*answer, vendor, said.step, time_limit)) return failure;
  return judge_library(said);
}

void add_listed(VendorFindings& findings, const IntelSigns& signs, const LevelZeroAnswer& said,
                const std::optional<Failure>& failure, const std::optional<std::string>& affinity) {
  std::vector<bool> visible(said.devices.size(), true);
  if (affinity) visible = visible_by_affinity(*affinity, said.devices.size());
  for (std::size_t i = 0; i < said.devices.size(); ++i) {
    if (!is_intel(said.devices[i])) continue;
    Gpu gpu = describe_gpu(said.devices[i], signs);
    if (failure && gpu.usable == Presence::present) blame(gpu, Presence::blocked, *failure);
    gpu.masked = !visible[i];
    if (gpu.masked) gpu.sources["masked"] = mask_variable;
    findings.gpus.push_back(std::move(gpu));
  }
}

void add_unlisted(VendorFindings& findings, const IntelSigns& signs, const LevelZeroAnswer& said,
                  const std::optional<Failure>& failure) {
  for (const IntelDevice& device : signs.devices) {
    const bool listed = std::ranges::any_of(said.devices, [&](const LevelZeroDevice& known) {
      return known.pci_address.empty() ? known.device_id == device.bus.device
                                       : known.pci_address == device.bus.address;
    });
    if (!listed) findings.gpus.push_back(describe_unlisted(device, failure));
  }
}

void judge_driver(VendorFindings& findings, const IntelSigns& signs, const LevelZeroAnswer& said) {
  Driver& driver = findings.driver.emplace();
  driver.vendor = vendor;
  driver.kernel_version = signs.kernel_version;
  driver.library_version = said.driver_version;
  driver.api_version = said.api_version;
  if (!said.api_version.empty()) driver.api_source = "level-zero";
  note_source(driver.sources, "kernel_version", driver.kernel_version, "sysfs");
  note_source(driver.sources, "library_version", driver.library_version, "level-zero");
  note_source(driver.sources, "api_version", driver.api_version, driver.api_source);
  // The driver is as usable as the best of its GPUs.
  const Gpu& best = *std::ranges::min_element(findings.gpus, {}, [](const Gpu& gpu) {
    const int rank = gpu.usable == Presence::present   ? 0
                     : gpu.usable == Presence::blocked ? 1
                     : gpu.usable == Presence::unknown ? 2
                                                       : 3;
    return std::pair(rank, gpu.pci_address);
  });
  driver.usable = best.usable;
  driver.reason_code = best.reason_code;
  driver.reason = best.reason;
}

void add_problems(VendorFindings& findings, const IntelSigns& signs,
                  const std::optional<Failure>& failure) {
  for (const IntelDevice& device : signs.devices) {
    const auto found = std::ranges::find(findings.gpus, device.bus.address, &Gpu::pci_address);
    if (found != findings.gpus.end() && found->reason_code == "unconfirmed") {
      add_problem(findings, vendor, unconfirmed());
    }
    if (found == findings.gpus.end() || found->usable != Presence::blocked) continue;
    const auto by_files = judge_files(device);
    if (by_files) {
      add_problem(findings, vendor, *by_files);
    } else if (failure) {
      add_problem(findings, vendor, *failure);
    } else {
      add_problem(findings, vendor,
                  {found->reason_code, "Level Zero does not list the GPU at " + found->pci_address,
                   "update Intel's GPU driver"});
    }
  }
  // Crashed libraries and missing answers are worth reporting whatever is on the bus.
  if (!failure) return;
  for (const char* code : {"driver-hangs", "driver-crashed", "not-recorded"}) {
    if (failure->code == code) add_problem(findings, vendor, *failure);
  }
}

}  // namespace

VendorFindings judge_intel(const IntelSigns& signs, const DriverAnswer* answer, bool asked_for,
                           std::chrono::milliseconds time_limit,
                           const std::optional<std::string>& affinity) {
  VendorFindings findings;
  LevelZeroAnswer said;
  if (answer != nullptr) said = read_level_zero_lines(parse_driver_lines(answer->lines));
  const std::optional<Failure> failure = judge(signs, answer, said, asked_for, time_limit);
  add_listed(findings, signs, said, failure, affinity);
  add_unlisted(findings, signs, said, failure);
  add_problems(findings, signs, failure);
  if (!findings.gpus.empty()) judge_driver(findings, signs, said);
  tell_all_masked(findings, vendor, mask_variable);
  return findings;
}

}  // namespace axle::detect
