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
  std::string kernel_source;           ///< "sysfs" or "procfs"
  bool nodes = false;                  ///< /dev/nvidiactl or /dev/nvidia<n> exist
  std::string missing_node;  ///< where `nodes`: the one without which no GPU can be opened
  std::string refused_node;  ///< the same, which this user may not open
  bool wsl = false;          ///< Windows' GPUs are or should be here
  bool wsl_node = false;     ///< /dev/dxg exists
  bool jetson = false;
  bool jetson_node = false;  ///< one of the Tegra GPU's device nodes exists
  bool libraries = false;    ///< a driver library lies where the loader looks

  /// There is hardware, not only left-over files. WSL shows every vendor's GPU as one device: only
  /// the libraries that Windows' driver brings tell NVIDIA's.
  [[nodiscard]] bool hardware() const {
    return !devices.empty() || nodes || jetson || (wsl && libraries);
  }
  /// There is something to say about NVIDIA here.
  [[nodiscard]] bool seen() const { return hardware() || libraries || wsl_node; }
  /// A child is worth starting: there is a driver library, or a device node that asks for one.
  [[nodiscard]] bool worth_asking() const { return libraries || nodes || jetson_node || wsl_node; }
};

[[nodiscard]] NvidiaSigns look_for_nvidia(Host& host, const std::vector<DisplayDevice>& bus,
                                          const Os& os);

/// `answer` is nullptr when the libraries were not asked; `asked_for` says whether the caller
/// wanted them asked. `visible` is CUDA_VISIBLE_DEVICES, if set.
[[nodiscard]] VendorFindings judge_nvidia(const NvidiaSigns& signs, const DriverAnswer* answer,
                                          bool asked_for, std::chrono::milliseconds time_limit,
                                          const std::optional<std::string>& visible);

}  // namespace axle::detect
