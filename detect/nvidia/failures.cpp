#include "detect/nvidia/failures.h"

#include <span>
#include <string>

namespace axle::detect {
namespace {

struct FailureRow {
  std::int64_t code;
  std::string_view word;
  std::string_view message;
  std::string_view hint;
};

constexpr FailureRow nvml_rows[] = {
    {4, "no-permission", "NVML has no permission to access the driver",
     "run as a user who may open /dev/nvidia*, or pass the devices to the container"},
    {6, "no-device", "NVML finds no GPU", ""},
    {9, "driver-not-loaded", "the NVIDIA kernel driver is not loaded",
     "load it (modprobe nvidia), or reboot after installing the driver"},
    {12, "no-user-driver", "NVML cannot find a library of the driver",
     "reinstall the NVIDIA driver's libraries"},
    {15, "gpu-lost", "a GPU has fallen off the bus", "reset it (nvidia-smi -r) or reboot"},
    {17, "driver-error", "the operating system or a container denies NVML access to the GPU",
     "check the container's device permissions (cgroup)"},
    {18, "driver-mismatch", "the driver's libraries and the loaded kernel module differ in version",
     "reboot, so that the kernel module of the installed driver is loaded"},
};

constexpr FailureRow cuda_rows[] = {
    {34, "stub-library", "libcuda.so.1 is the CUDA toolkit's stub, not a driver",
     "remove the toolkit's stubs folder from LD_LIBRARY_PATH"},
    {100, "no-device", "CUDA finds no GPU",
     "check that the container has /dev/nvidia* and /dev/nvidia-uvm"},
    {101, "no-device", "CUDA refuses the selected GPU", "check CUDA_VISIBLE_DEVICES"},
    {222, "driver-error", "the driver is older than the code it should run",
     "update the NVIDIA driver"},
    {304, "no-permission",
     "the operating system or a container denies CUDA a system call or a device",
     "pass every /dev/nvidia* to the container, and check the kernel log (dmesg) for denials"},
    {802, "not-ready", "the system is not ready yet: NVSwitch needs the fabric manager",
     "start nvidia-fabricmanager of the driver's version"},
    {803, "driver-mismatch", "the CUDA library and the loaded kernel module differ in version",
     "reboot, so that the kernel module of the installed driver is loaded"},
    {804, "compat-not-supported",
     "a forward-compatibility libcuda is first on the path, but this GPU does not support it",
     "remove CUDA's compat folder from LD_LIBRARY_PATH and the loader's configuration"},
    {999, "driver-error", "CUDA fails with an unknown error",
     "load nvidia-uvm (nvidia-modprobe -u), or reboot"},
};

Failure look_up(std::span<const FailureRow> rows, std::int64_t code, std::string_view call) {
  for (const FailureRow& row : rows) {
    if (row.code != code) continue;
    std::string message(row.message);
    message += " (" + std::string(call) + ": " + std::to_string(code) + ')';
    return {std::string(row.word), message, std::string(row.hint)};
  }
  return {"driver-error", std::string(call) + " failed with " + std::to_string(code),
          "run nvidia-smi, and reinstall or update the NVIDIA driver"};
}

}  // namespace

Failure judge_nvml_code(std::int64_t code) { return look_up(nvml_rows, code, "NVML"); }

Failure judge_cuda_code(std::int64_t code) { return look_up(cuda_rows, code, "CUDA"); }

}  // namespace axle::detect
