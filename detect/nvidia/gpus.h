#pragma once
// NVIDIA: what files show, and the verdict after the libraries were queried.

#include <string>
#include <vector>

#include "detect/host.h"
#include "detect/pci_bus.h"
#include "detect/verdict.h"

namespace axle::detect {

struct NvidiaSigns {
  std::vector<DisplayDevice> devices;  ///< on the bus
  std::vector<std::string> models;     ///< as the kernel driver names them, one per device
  std::string kernel_version;          ///< of the loaded kernel module
  std::string kernel_source;           ///< "sysfs" or "procfs"
  bool nodes = false;                  ///< /dev/nvidiactl or /dev/nvidia<n> exist
  std::string missing_node;            ///< if `nodes`: the one without which no GPU can be opened
  std::string refused_node;            ///< the same, if this user may not open it
  bool wsl = false;                    ///< Windows' GPUs are or should be available here
  bool wsl_node = false;               ///< /dev/dxg exists
  bool jetson = false;
  bool jetson_node = false;  ///< one of the Tegra GPU's device nodes exists
  bool libraries = false;    ///< a driver library is where the loader searches

  /// There is hardware, not only leftover files. WSL shows every vendor's GPU as one device: only
  /// the libraries from Windows' driver identify NVIDIA's.
  [[nodiscard]] bool hardware() const {
    return !devices.empty() || nodes || jetson || (wsl && libraries);
  }
  /// There is something to report about NVIDIA here.
  [[nodiscard]] bool seen() const { return hardware() || libraries || wsl_node; }
  /// A child is worth starting: there is a driver library, or a device node that needs one.
  [[nodiscard]] bool worth_asking() const { return libraries || nodes || jetson_node || wsl_node; }
};

[[nodiscard]] NvidiaSigns look_for_nvidia(Host& host, const std::vector<DisplayDevice>& bus,
                                          const Os& os);

/// `answer` is nullptr if the libraries were not queried; `asked_for` says whether the caller
/// wanted them queried. `visible` is CUDA_VISIBLE_DEVICES, if set.
[[nodiscard]] VendorFindings judge_nvidia(const NvidiaSigns& signs, const DriverAnswer* answer,
                                          bool asked_for, std::chrono::milliseconds time_limit,
                                          const std::optional<std::string>& visible);

}  // namespace axle::detect
