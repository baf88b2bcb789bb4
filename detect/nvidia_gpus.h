#pragma once
// NVIDIA: what the files show, and the verdict once the libraries have been asked.

#include <string>
#include <vector>

#include "detect/host.h"
#include "detect/pci_bus.h"
#include "detect/verdict.h"

namespace axle::detect {

struct NvidiaSigns {
  std::vector<DisplayDevice> devices;  ///< on the bus
  std::vector<std::string> models;     ///< as the kernel driver names them, one a device
  std::string kernel_version;          ///< of the loaded kernel module
  bool nodes = false;                  ///< /dev/nvidiactl or /dev/nvidia<n> exist
  bool nodes_usable = false;           ///< and may be opened
  bool wsl = false;
  bool jetson = false;
  bool libraries = false;  ///< a driver library lies where the loader looks

  /// There is hardware, not only left-over files.
  [[nodiscard]] bool hardware() const { return !devices.empty() || nodes || wsl || jetson; }
  [[nodiscard]] bool worth_asking() const { return hardware() || libraries; }
};

[[nodiscard]] NvidiaSigns look_for_nvidia(Host& host, const std::vector<DisplayDevice>& bus);

/// `answer` is nullptr when the libraries were not asked. `visible` is CUDA_VISIBLE_DEVICES, if
/// set.
[[nodiscard]] VendorFindings judge_nvidia(const NvidiaSigns& signs, const DriverAnswer* answer,
                                          std::chrono::milliseconds time_limit,
                                          const std::optional<std::string>& visible);

}  // namespace axle::detect
