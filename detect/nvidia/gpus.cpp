#include "detect/nvidia/gpus.h"

#include <algorithm>
#include <utility>

#include "detect/drivers/visible_devices.h"
#include "detect/nvidia/cuda_drivers.h"
#include "detect/nvidia/facts.h"
#include "detect/nvidia/models.h"
#include "detect/nvidia/verdict.h"

namespace axle::detect {
namespace {

constexpr GpuVendor vendor = GpuVendor::nvidia;
constexpr const char* mask_variable = "CUDA_VISIBLE_DEVICES";

/// A device as the libraries list it, and which of them reported its capability.
struct Listed {
  NvidiaDevice device;
  std::string source;
  std::string arch_source;
};

/// The devices that the libraries listed. NVML's list is complete; CUDA adds what NVML cannot
/// report. On a Jetson NVML may only know the GPU's name, and CUDA knows more.
std::vector<Listed> listed_devices(const NvidiaAnswer& answer) {
  const auto unknown = [](const NvidiaDevice& device) {
    return device.capability.empty() && device.pci_address.empty();
  };
  const bool nvml_blind =
      !answer.cuda_devices.empty() && std::ranges::all_of(answer.nvml_devices, unknown);
  std::vector<Listed> devices;
  if (nvml_blind) {
    for (const NvidiaDevice& device : answer.cuda_devices) {
      devices.push_back({device, "libcuda", "libcuda"});
    }
    return devices;
  }
  for (const NvidiaDevice& device : answer.nvml_devices) {
    const std::string source = answer.by_tool ? "nvidia-smi" : "nvml";
    Listed listed{device, source, source};
    for (const NvidiaDevice& seen : answer.cuda_devices) {
      if (seen.pci_address != device.pci_address || seen.pci_address.empty()) continue;
      if (device.capability.empty()) {
        listed.device.capability = seen.capability;
        listed.arch_source = "libcuda";
      }
      listed.device.integrated = seen.integrated;
    }
    devices.push_back(std::move(listed));
  }
  return devices;
}

void describe_api(const NvidiaAnswer& answer, Driver& driver) {
  const bool compat_counts = answer.compat && !answer.retried;
  // If no other library can be queried, a rejected compat library says nothing about the driver.
  const bool refused = compat_counts && answer.cuda_init.value_or(0) != 0;
  const auto by_cuda = render_cuda_version(answer.cuda_version.value_or(0));
  const auto by_nvml = render_cuda_version(answer.nvml_cuda.value_or(0));
  if (by_cuda && !refused) {
    driver.api_version = *by_cuda;
    driver.api_source = compat_counts ? "libcuda-compat" : "libcuda";
  } else if (by_nvml && !refused && !answer.retried) {
    driver.api_version = *by_nvml;
    driver.api_source = "nvml";
  } else {
    const std::string& version =
        driver.kernel_version.empty() ? driver.library_version : driver.kernel_version;
    driver.api_version = cuda_of_driver(version);
    if (!driver.api_version.empty()) driver.api_source = "driver-table";
  }
}

Driver describe_driver(const NvidiaSigns& signs, const NvidiaAnswer& answer) {
  Driver driver;
  driver.vendor = vendor;
  driver.kernel_version = signs.kernel_version;
  driver.library_version = answer.nvml_driver;
  std::string library_source = answer.by_tool ? "nvidia-smi" : "nvml";
  const bool own_file = !answer.compat || answer.retried;
  if (driver.library_version.empty() && own_file) {
    driver.library_version = parse_library_version(answer.cuda_file);
    library_source = "file-name";
  }
  describe_api(answer, driver);
  driver.compat_version = answer.compat_version;
  driver.compat_library = answer.compat_file;
  note_source(driver.sources, "kernel_version", driver.kernel_version, signs.kernel_source);
  note_source(driver.sources, "library_version", driver.library_version, library_source);
  note_source(driver.sources, "api_version", driver.api_version, driver.api_source);
  note_source(driver.sources, "compat_library", driver.compat_library, "loader");
  note_source(driver.sources, "compat_version", driver.compat_version, "elf-note");
  return driver;
}

Gpu describe_gpu(const Listed& listed, const NvidiaSigns& signs) {
  const NvidiaDevice& device = listed.device;
  Gpu gpu;
  gpu.vendor = vendor;
  gpu.name = device.name;
  gpu.pci_address = device.pci_address;
  gpu.pci_id = device.pci_id;
  gpu.arch = device.capability;
  if (device.memory > 0) gpu.memory_bytes = device.memory;
  gpu.integrated = device.integrated;
  gpu.mig = device.mig;
  gpu.usable = Presence::present;
  note_source(gpu.sources, "name", gpu.name, listed.source);
  note_source(gpu.sources, "pci_address", gpu.pci_address, listed.source);
  note_source(gpu.sources, "pci_id", gpu.pci_id, listed.source);
  note_source(gpu.sources, "arch", gpu.arch, listed.arch_source);
  if (gpu.memory_bytes) note_source(gpu.sources, "memory_bytes", "known", listed.source);
  if (gpu.integrated) gpu.sources["integrated"] = "libcuda";
  if (gpu.mig) gpu.sources["mig"] = listed.source;
  const auto on_bus = std::ranges::find(signs.devices, gpu.pci_address, &DisplayDevice::address);
  if (on_bus != signs.devices.end()) describe_place(gpu, *on_bus);
  return gpu;
}

/// In CUDA's numbering if CUDA was queried, otherwise in NVML's, which is the bus order.
void apply_mask(std::vector<Gpu>& gpus, const std::vector<Listed>& listed,
                const NvidiaAnswer& answer, const std::string& mask) {
  std::vector<std::pair<std::ptrdiff_t, std::size_t>> order;
  for (std::size_t i = 0; i < listed.size(); ++i) {
    const auto found = std::ranges::find(answer.cuda_devices, listed[i].device.pci_address,
                                         &NvidiaDevice::pci_address);
    // Devices that CUDA did not list keep NVML's order.
    order.emplace_back(found - answer.cuda_devices.begin(), i);
  }
  std::ranges::sort(order);
  std::vector<std::string> uuids;
  for (const auto& [place, index] : order) uuids.push_back(listed[index].device.uuid);
  const std::vector<bool> visible = visible_by_list(mask, uuids);
  for (std::size_t i = 0; i < order.size(); ++i) {
    Gpu& gpu = gpus[order[i].second];
    gpu.masked = !visible[i];
    if (gpu.masked) gpu.sources["masked"] = mask_variable;
  }
}

void add_unlisted(VendorFindings& findings, const NvidiaSigns& signs, const NvidiaAnswer& answer,
                  const std::optional<Failure>& failure) {
  for (std::size_t i = 0; i < signs.devices.size(); ++i) {
    const DisplayDevice& device = signs.devices[i];
    const auto same = [&](const Gpu& gpu) { return gpu.pci_address == device.address; };
    if (std::ranges::any_of(findings.gpus, same)) continue;
    Gpu gpu;
    gpu.vendor = vendor;
    describe_place(gpu, device);
    gpu.name = signs.models[i];
    note_source(gpu.sources, "name", gpu.name, "procfs");
    if (gpu.name.empty()) {
      gpu.name = chip_of(device.device);
      note_source(gpu.sources, "name", gpu.name, "pci-id-table");
    }
    const Failure reason = failure ? *failure : judge_unlisted(device, answer);
    blame(gpu, usable_after(reason), reason);
    findings.gpus.push_back(std::move(gpu));
    if (reason.code == "gpu-lost") add_problem(findings, vendor, reason);
  }
}

}  // namespace

VendorFindings judge_nvidia(const NvidiaSigns& signs, const DriverAnswer* answer, bool asked_for,
                            std::chrono::milliseconds time_limit,
                            const std::optional<std::string>& visible) {
  VendorFindings findings;
  if (!signs.seen()) return findings;
  NvidiaAnswer said;
  // Not queried because there is neither a library nor a device node.
  static const DriverAnswer nothing_there{
      DriverAnswer::End::finished, 0,
      "cuda.missing\tthere is no libcuda.so.1\nnvml.missing\tthere is no libnvidia-ml.so.1\n"};
  if (answer == nullptr && asked_for) answer = &nothing_there;
  if (answer != nullptr) said = read_nvidia_lines(parse_driver_lines(answer->lines));
  const auto failure = judge_nvidia_driver(signs, answer, said, time_limit);
  const std::vector<Listed> listed = listed_devices(said);
  // WSL's device node by itself may belong to another vendor.
  if (!signs.hardware() && !signs.libraries && listed.empty()) return findings;
  for (const Listed& device : listed) {
    Gpu gpu = describe_gpu(device, signs);
    const auto without_instance = judge_mig(device.device, said);
    if (without_instance) {
      blame(gpu, Presence::blocked, *without_instance);
      add_problem(findings, vendor, *without_instance);
    }
    if (failure) blame(gpu, Presence::blocked, *failure);
    findings.gpus.push_back(std::move(gpu));
  }
  if (visible) apply_mask(findings.gpus, listed, said, *visible);
  findings.driver = describe_driver(signs, said);
  findings.driver->usable = Presence::present;
  if (failure) {
    const bool told = worth_telling(signs, *failure);
    const Presence usable = usable_after(*failure);
    const bool unknown = usable == Presence::unknown;
    blame(*findings.driver, told || unknown ? usable : Presence::absent, *failure);
    if (told && failure->code != "not-asked") add_problem(findings, vendor, *failure);
  }
  if (!failure || worth_telling(signs, *failure)) {
    for (const Failure& remark : nvidia_remarks(signs, said)) add_problem(findings, vendor, remark);
  }
  add_unlisted(findings, signs, said, failure);
  tell_all_masked(findings, vendor, mask_variable);
  return findings;
}

}  // namespace axle::detect
