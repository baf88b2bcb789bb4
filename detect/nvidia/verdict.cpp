#include "detect/nvidia/verdict.h"

#include <algorithm>

#include "detect/nvidia/cuda_compat.h"
#include "detect/nvidia/failures.h"

namespace axle::detect {
namespace {

constexpr std::int64_t cuda_no_device = 100;
constexpr std::int64_t cuda_system_not_ready = 802;
constexpr std::int64_t cuda_compat_not_supported = 804;

constexpr std::string_view install_hint = "install the NVIDIA driver for this kernel";

std::optional<Failure> judge_virtual_nodes(const NvidiaSigns& signs) {
  if (signs.wsl && !signs.wsl_node) {
    return Failure{"no-device-nodes", "this is WSL, but there is no /dev/dxg here",
                   "in a container: start it with --gpus all, or with --device /dev/dxg and "
                   "/usr/lib/wsl mounted"};
  }
  if (signs.jetson && !signs.jetson_node && !signs.nodes) {
    return Failure{"no-device-nodes",
                   "this is a Jetson, but its GPU's device nodes (/dev/nvhost-*, /dev/nvgpu) are "
                   "missing here",
                   "in a container: start it with --runtime nvidia"};
  }
  return std::nullopt;
}

std::optional<Failure> judge_files(const NvidiaSigns& signs) {
  if (signs.wsl || signs.jetson) return judge_virtual_nodes(signs);
  if (signs.devices.empty()) return std::nullopt;
  const auto held = [](const DisplayDevice& device) { return device.driver == "nvidia"; };
  // sysfs without driver links (gVisor) or a module without them is no evidence.
  if (!signs.nodes && std::ranges::none_of(signs.devices, held)) {
    return judge_kernel_driver(signs.devices.front().driver, "nvidia", install_hint);
  }
  if (!signs.nodes || !signs.missing_node.empty()) {
    const std::string node = signs.nodes ? signs.missing_node : "/dev/nvidia*";
    return Failure{"no-device-nodes",
                   "there is an NVIDIA GPU and its kernel driver, but no " + node + " here",
                   "in a container: start it with --gpus all (NVIDIA Container Toolkit); else run "
                   "nvidia-modprobe -c 0 -c 255 as root"};
  }
  if (!signs.refused_node.empty()) {
    return Failure{"no-permission", signs.refused_node + " cannot be opened by this user",
                   "request access to the GPU, or pass its devices to the container"};
  }
  return std::nullopt;
}

Failure missing_library(const NvidiaAnswer& said) {
  if (!said.nvml_devices.empty()) {
    return {"no-user-driver",
            "the driver answers, but its CUDA library cannot be loaded: " + said.cuda_missing,
            "install libcuda.so.1, or start the container with NVIDIA_DRIVER_CAPABILITIES=all"};
  }
  return {"no-user-driver", "the NVIDIA driver's libraries cannot be loaded: " + said.cuda_missing,
          "install the driver's libraries (libcuda.so.1, libnvidia-ml.so.1) of the kernel module's "
          "version"};
}

Failure describe_compat(const NvidiaSigns& signs, const NvidiaAnswer& said) {
  const std::string which =
      "the forward-compatibility libcuda on the loader's path" +
      (said.compat_version.empty() ? "" : " (CUDA " + said.compat_version + ")");
  const std::string remove =
      "remove CUDA's compat folder from LD_LIBRARY_PATH and the loader's configuration";
  const std::string& driver = signs.kernel_version;
  const bool refused_branch = !said.compat_branches.empty() && !driver.empty() &&
                              !allows_branch(said.compat_branches, driver);
  if (refused_branch) {
    return {"compat-branch", which + " does not support the kernel driver " + driver,
            remove + ", or update the NVIDIA driver"};
  }
  Failure failure = judge_cuda_code(
      (said.retried ? said.compat_init : said.cuda_init).value_or(cuda_compat_not_supported));
  if (failure.code == "compat-not-supported") return failure;
  return {"compat-failed", which + " fails: " + failure.message, remove};
}

/// CUDA finds nothing because every GPU is in MIG mode and has no instance.
std::optional<Failure> judge_all_mig(const NvidiaAnswer& said) {
  if (said.cuda_init != cuda_no_device || said.nvml_devices.empty()) return std::nullopt;
  const auto without = [&](const NvidiaDevice& device) {
    return judge_mig(device, said).has_value();
  };
  if (!std::ranges::all_of(said.nvml_devices, without)) return std::nullopt;
  return judge_mig(said.nvml_devices.front(), said);
}

/// Why the libraries, after they finished, list no usable GPU; nullopt if they do.
std::optional<Failure> judge_libraries(const NvidiaSigns& signs, const NvidiaAnswer& said) {
  if (!said.cuda_missing.empty()) {
    if (!said.refused.empty()) return untrusted_library(said.refused);
    if (said.nvml_init && *said.nvml_init != 0) return judge_nvml_code(*said.nvml_init);
    return missing_library(said);
  }
  if (said.cuda_version_error) return judge_cuda_code(*said.cuda_version_error);
  // NVML reports a mismatch and a missing module better than cuInit's 100 and 999.
  if (said.cuda_init && *said.cuda_init != 0) {
    const bool nvml_knows_better =
        said.nvml_init && *said.nvml_init != 0 && *said.cuda_init != cuda_compat_not_supported;
    if (nvml_knows_better) return judge_nvml_code(*said.nvml_init);
    if (*said.cuda_init == cuda_system_not_ready && !said.nvml_devices.empty()) {
      return std::nullopt;
    }
    if (said.compat && !said.retried) return describe_compat(signs, said);
    if (auto failure = judge_all_mig(said)) return failure;
    return judge_cuda_code(*said.cuda_init);
  }
  if (!said.cuda_devices.empty()) return std::nullopt;
  if (!said.missing_symbols.empty()) {
    return Failure{"missing-symbol", "the driver's libraries lack " + said.missing_symbols.front(),
                   "they are too old or not the driver's: reinstall the NVIDIA driver"};
  }
  if (!said.nvml_devices.empty()) return std::nullopt;
  if (said.nvml_init && *said.nvml_init != 0) return judge_nvml_code(*said.nvml_init);
  if (said.nvml_device_error) return judge_nvml_code(*said.nvml_device_error);
  return Failure{"no-device", "the NVIDIA driver lists no GPU",
                 "check that one is passed to the container"};
}

}  // namespace

std::optional<Failure> judge_nvidia_driver(const NvidiaSigns& signs, const DriverAnswer* answer,
                                           const NvidiaAnswer& said,
                                           std::chrono::milliseconds time_limit) {
  if (answer == nullptr || answer->end == DriverAnswer::End::not_recorded) {
    if (const auto failure = judge_files(signs)) return failure;
  }
  if (answer == nullptr) return not_asked();
  if (auto failure = judge_end(*answer, GpuVendor::nvidia, said.step, time_limit)) return failure;
  const auto by_libraries = judge_libraries(signs, said);
  if (!by_libraries) return std::nullopt;
  // Missing nodes explain any error of the libraries.
  const auto by_files = judge_files(signs);
  return by_files ? by_files : by_libraries;
}

Failure judge_unlisted(const DisplayDevice& device, const NvidiaAnswer& said) {
  if (auto held = judge_kernel_driver(device.driver, "nvidia", install_hint)) return *held;
  if (said.nvml_device_error) return judge_nvml_code(*said.nvml_device_error);
  return {"not-listed", "the driver does not list this GPU",
          "in a container: only other GPUs were passed to it"};
}

std::optional<Failure> judge_mig(const NvidiaDevice& device, const NvidiaAnswer& said) {
  const bool lists = std::ranges::find(said.cuda_devices, device.pci_address,
                                       &NvidiaDevice::pci_address) != said.cuda_devices.end();
  if (!device.mig || device.mig_instances != 0 || lists) return std::nullopt;
  return Failure{"no-mig-instance",
                 "the GPU is in MIG mode, but has no instance that programs could run on",
                 "create one (nvidia-smi mig -cgi PROFILE -C), pass one to the container, or leave "
                 "MIG mode (nvidia-smi -mig 0)"};
}

bool worth_telling(const NvidiaSigns& signs, const Failure& failure) {
  if (signs.hardware()) return true;
  return failure.code != "no-device" && failure.code != "driver-not-loaded" &&
         failure.code != "no-user-driver" && failure.code != "stub-library";
}

std::vector<Failure> nvidia_remarks(const NvidiaSigns& signs, const NvidiaAnswer& said) {
  std::vector<Failure> remarks;
  if (said.retried) remarks.push_back(describe_compat(signs, said));
  const bool not_ready = said.cuda_init == cuda_system_not_ready ||
                         (said.fabric_pending && said.cuda_init.value_or(0) != 0);
  if (not_ready) remarks.push_back(judge_cuda_code(cuda_system_not_ready));
  return remarks;
}

}  // namespace axle::detect
