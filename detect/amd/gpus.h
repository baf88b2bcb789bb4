#pragma once
// AMD: the kernel's KFD topology describes each GPU and whether it may be used; ROCm SMI adds names
// and memory.

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "detect/amd/facts.h"
#include "detect/device_node.h"
#include "detect/host.h"
#include "detect/pci_bus.h"
#include "detect/verdict.h"

namespace axle::detect {

struct AmdDevice {
  std::string pci_address;
  bool on_bus = false;
  std::string driver;           ///< kernel driver bound to it, if it is on the bus
  std::uint32_t device_id = 0;  ///< PCI
  bool in_topology = false;
  std::int64_t node_number = -1;  ///< in the topology
  KfdNode node;
  bool withheld = false;  ///< in the topology, but not accessible to this container
  NodeState render_node = NodeState::missing;
  std::string name;
  std::uint64_t memory = 0;
  bool integrated = false;
};

struct AmdSigns {
  std::vector<AmdDevice> devices;  ///< in the topology's order (which masks use), then others
  bool topology = false;           ///< the kernel has KFD
  /// Nodes whose properties the kernel does not let us read: GPUs that this container may not use.
  unsigned refused_nodes = 0;
  bool wsl = false;  ///< ROCm is installed under WSL, whose kernel shows no AMD GPU
  NodeState kfd_node = NodeState::missing;
  std::string kernel_version;  ///< of an out-of-tree amdgpu module
  std::string rocm_version;
  std::string rocm_source;
  bool library = false;  ///< a ROCm SMI library is where the loader searches

  /// ROCm SMI on a machine without the hardware is not queried, unless it is on LD_LIBRARY_PATH.
  [[nodiscard]] bool worth_asking() const { return library; }
};

[[nodiscard]] AmdSigns look_for_amd(Host& host, const std::vector<DisplayDevice>& bus);

/// The environment variables that hide or rename AMD GPUs.
struct AmdEnvironment {
  std::optional<std::string> rocr_visible_devices;
  /// HIP_VISIBLE_DEVICES, else CUDA_VISIBLE_DEVICES, which HIP reads too, else GPU_DEVICE_ORDINAL.
  std::optional<std::string> hip_visible_devices;
  std::string hip_variable;  ///< which of them is set
  std::string gfx_override;  ///< HSA_OVERRIDE_GFX_VERSION
  /// HSA_OVERRIDE_GFX_VERSION_<node>, by the topology's number.
  std::map<std::int64_t, std::string> node_overrides;
};

[[nodiscard]] AmdEnvironment read_amd_environment(Host& host, const AmdSigns& signs);

/// `answer` is nullptr if ROCm SMI was not queried.
[[nodiscard]] VendorFindings judge_amd(const AmdSigns& signs, const DriverAnswer* answer,
                                       std::chrono::milliseconds time_limit,
                                       const AmdEnvironment& environment);

}  // namespace axle::detect
