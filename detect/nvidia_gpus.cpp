#include "detect/nvidia_gpus.h"

#include <algorithm>
#include <utility>

#include "detect/cuda_drivers.h"
#include "detect/nvidia_facts.h"
#include "detect/nvidia_failures.h"
#include "detect/visible_devices.h"

namespace axle::detect {
namespace {

constexpr GpuVendor vendor = GpuVendor::nvidia;
constexpr std::int64_t cuda_system_not_ready = 802;
constexpr std::int64_t cuda_compat_not_supported = 804;

constexpr std::string_view install_hint = "install the NVIDIA driver for this kernel";

/// The devices that the libraries listed. NVML's list is whole; CUDA adds what NVML cannot tell.
std::vector<NvidiaDevice> listed_devices(const NvidiaAnswer& answer) {
  if (answer.nvml_devices.empty()) return answer.cuda_devices;
  std::vector<NvidiaDevice> devices = answer.nvml_devices;
  for (NvidiaDevice& device : devices) {
    for (const NvidiaDevice& seen : answer.cuda_devices) {
      if (seen.pci_address != device.pci_address || seen.pci_address.empty()) continue;
      if (device.capability.empty()) device.capability = seen.capability;
      device.integrated = seen.integrated;
    }
  }
  return devices;
}

std::optional<Failure> judge_files(const NvidiaSigns& signs) {
  if (signs.wsl || signs.jetson || signs.devices.empty()) return std::nullopt;
  const auto held = [](const DisplayDevice& device) { return device.driver == "nvidia"; };
  // sysfs without driver links (gVisor) or a module without them says nothing.
  if (!signs.nodes && std::ranges::none_of(signs.devices, held)) {
    return judge_kernel_driver(signs.devices.front().driver, "nvidia", install_hint);
  }
  if (!signs.nodes) {
    return Failure{"no-device-nodes",
                   "there is an NVIDIA GPU and its kernel driver, but no /dev/nvidia* here",
                   "in a container: start it with --gpus all (NVIDIA Container Toolkit)"};
  }
  if (!signs.nodes_usable) {
    return Failure{"no-permission", "/dev/nvidia* cannot be opened by this user",
                   "ask for access to the GPU, or pass its devices to the container"};
  }
  return std::nullopt;
}

Failure missing_library(const NvidiaAnswer& answer) {
  if (!answer.nvml_devices.empty()) {
    return {"no-user-driver",
            "the driver answers, but its CUDA library cannot be loaded: " + answer.cuda_missing,
            "install libcuda.so.1, or start the container with NVIDIA_DRIVER_CAPABILITIES=all"};
  }
  return {"no-user-driver",
          "the NVIDIA driver's libraries cannot be loaded: " + answer.cuda_missing,
          "install the driver's libraries (libcuda.so.1, libnvidia-ml.so.1) in the kernel module's "
          "version"};
}

/// Why the libraries, having finished, name no usable GPU; nullopt when they do.
std::optional<Failure> judge_libraries(const NvidiaAnswer& answer) {
  if (!answer.cuda_missing.empty()) {
    if (answer.nvml_init && *answer.nvml_init != 0) return judge_nvml_code(*answer.nvml_init);
    return missing_library(answer);
  }
  if (answer.cuda_version_error) return judge_cuda_code(*answer.cuda_version_error);
  // NVML tells a mismatch and a missing module better than cuInit's 100 and 999.
  if (answer.cuda_init && *answer.cuda_init != 0) {
    const bool nvml_knows_better = answer.nvml_init && *answer.nvml_init != 0 &&
                                   *answer.cuda_init != cuda_compat_not_supported;
    if (nvml_knows_better) return judge_nvml_code(*answer.nvml_init);
    if (*answer.cuda_init == cuda_system_not_ready && !answer.nvml_devices.empty()) {
      return std::nullopt;
    }
    return judge_cuda_code(*answer.cuda_init);
  }
  if (!answer.cuda_devices.empty()) return std::nullopt;
  if (!answer.missing_symbols.empty()) {
    return Failure{"missing-symbol",
                   "the driver's libraries lack " + answer.missing_symbols.front(),
                   "they are too old or belong to something else: reinstall the NVIDIA driver"};
  }
  if (!answer.nvml_devices.empty()) return std::nullopt;
  if (answer.nvml_init && *answer.nvml_init != 0) return judge_nvml_code(*answer.nvml_init);
  if (answer.nvml_device_error) return judge_nvml_code(*answer.nvml_device_error);
  return Failure{"no-device", "the NVIDIA driver lists no GPU",
                 "check that the container was given one"};
}

/// A left-over library on a machine without the hardware is nothing to complain about.
bool worth_telling(const NvidiaSigns& signs, const Failure& failure) {
  if (signs.hardware()) return true;
  return failure.code != "no-device" && failure.code != "driver-not-loaded" &&
         failure.code != "no-user-driver" && failure.code != "stub-library";
}

Driver describe_driver(const NvidiaSigns& signs, const NvidiaAnswer& answer) {
  Driver driver;
  driver.vendor = vendor;
  driver.kernel_version = signs.kernel_version;
  driver.library_version = answer.nvml_driver;
  if (driver.library_version.empty()) {
    driver.library_version = parse_library_version(answer.cuda_file);
  }
  const bool compat = answer.cuda_file.find("/compat/") != std::string::npos;
  const bool compat_refused = answer.cuda_init == cuda_compat_not_supported;
  const auto by_cuda = render_cuda_version(answer.cuda_version.value_or(0));
  const auto by_nvml = render_cuda_version(answer.nvml_cuda.value_or(0));
  if (by_cuda && !compat_refused) {
    driver.api_version = *by_cuda;
    driver.api_source = compat ? "libcuda-compat" : "libcuda";
  } else if (by_nvml && !compat_refused) {
    driver.api_version = *by_nvml;
    driver.api_source = "nvml";
  } else {
    const std::string& version =
        driver.kernel_version.empty() ? driver.library_version : driver.kernel_version;
    driver.api_version = cuda_of_driver(version);
    if (!driver.api_version.empty()) driver.api_source = "driver-table";
  }
  return driver;
}

Gpu describe_gpu(const NvidiaDevice& device) {
  Gpu gpu;
  gpu.vendor = vendor;
  gpu.name = device.name;
  gpu.pci_address = device.pci_address;
  gpu.arch = device.capability;
  if (device.memory > 0) gpu.memory_bytes = device.memory;
  gpu.integrated = device.integrated;
  gpu.usable = Presence::present;
  return gpu;
}

/// In CUDA's numbering where CUDA was asked, else in NVML's, which is the bus order.
void apply_mask(std::vector<Gpu>& gpus, const std::vector<NvidiaDevice>& listed,
                const NvidiaAnswer& answer, const std::string& mask) {
  std::vector<const NvidiaDevice*> order;
  for (const NvidiaDevice& device : listed) order.push_back(&device);
  const auto place = [&](const NvidiaDevice* device) {
    const auto found =
        std::ranges::find(answer.cuda_devices, device->pci_address, &NvidiaDevice::pci_address);
    // Those that CUDA did not list keep NVML's order.
    return std::pair(found - answer.cuda_devices.begin(), device);
  };
  std::ranges::sort(order, {}, place);
  std::vector<std::string> uuids;
  for (const NvidiaDevice* device : order) uuids.push_back(device->uuid);
  const std::vector<bool> visible = visible_by_list(mask, uuids);
  for (std::size_t i = 0; i < order.size(); ++i) {
    gpus[static_cast<std::size_t>(order[i] - listed.data())].masked = !visible[i];
  }
}

/// A GPU on the bus that the driver does not list though it lists others or none.
Failure judge_unlisted(const DisplayDevice& device, const NvidiaAnswer& answer) {
  if (auto held = judge_kernel_driver(device.driver, "nvidia", install_hint)) return *held;
  if (answer.nvml_device_error) return judge_nvml_code(*answer.nvml_device_error);
  return {"not-listed", "the driver does not list this GPU",
          "in a container: it was given other GPUs only"};
}

void add_unlisted(VendorFindings& findings, const NvidiaSigns& signs, const NvidiaAnswer& answer,
                  const std::optional<Failure>& failure) {
  for (std::size_t i = 0; i < signs.devices.size(); ++i) {
    const DisplayDevice& device = signs.devices[i];
    const auto same = [&](const Gpu& gpu) { return gpu.pci_address == device.address; };
    if (std::ranges::any_of(findings.gpus, same)) continue;
    Gpu gpu;
    gpu.vendor = vendor;
    gpu.pci_address = device.address;
    gpu.name = signs.models[i];
    const Failure reason = failure ? *failure : judge_unlisted(device, answer);
    blame(gpu, reason.code == "not-asked" ? Presence::unknown : Presence::blocked, reason);
    findings.gpus.push_back(std::move(gpu));
    if (reason.code == "gpu-lost") add_problem(findings, vendor, reason);
  }
}

/// Everything that speaks against the driver as a whole.
std::optional<Failure> judge(const NvidiaSigns& signs, const DriverAnswer* answer,
                             const NvidiaAnswer& said, std::chrono::milliseconds time_limit) {
  if (answer == nullptr) {
    const auto failure = judge_files(signs);
    return failure ? failure : not_asked();
  }
  if (auto failure = judge_end(*answer, vendor, said.step, time_limit)) return failure;
  const auto by_libraries = judge_libraries(said);
  if (!by_libraries) return std::nullopt;
  // Missing nodes explain whatever the libraries complain of.
  const auto by_files = judge_files(signs);
  return by_files ? by_files : by_libraries;
}

}  // namespace

VendorFindings judge_nvidia(const NvidiaSigns& signs, const DriverAnswer* answer,
                            std::chrono::milliseconds time_limit,
                            const std::optional<std::string>& visible) {
  VendorFindings findings;
  if (!signs.worth_asking()) return findings;
  NvidiaAnswer said;
  if (answer != nullptr) said = read_nvidia_lines(parse_driver_lines(answer->lines));
  const std::optional<Failure> failure = judge(signs, answer, said, time_limit);
  const std::vector<NvidiaDevice> listed = listed_devices(said);
  for (const NvidiaDevice& device : listed) {
    Gpu gpu = describe_gpu(device);
    if (failure) blame(gpu, Presence::blocked, *failure);
    findings.gpus.push_back(std::move(gpu));
  }
  if (visible) apply_mask(findings.gpus, listed, said, *visible);
  findings.driver = describe_driver(signs, said);
  findings.driver->usable = Presence::present;
  if (failure) {
    const bool told = worth_telling(signs, *failure);
    const bool unknown = failure->code == "not-asked";
    const Presence usable = unknown ? Presence::unknown
                            : told  ? Presence::blocked
                                    : Presence::absent;
    blame(*findings.driver, usable, *failure);
    if (told && !unknown) add_problem(findings, vendor, *failure);
  } else if (said.cuda_init == cuda_system_not_ready) {
    add_problem(findings, vendor, judge_cuda_code(cuda_system_not_ready));
  }
  add_unlisted(findings, signs, said, failure);
  return findings;
}

}  // namespace axle::detect
