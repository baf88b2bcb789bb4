#pragma once
// AMD: the kernel's KFD topology says what each GPU is and whether it may be used; ROCm SMI adds
// names and memory.

#include <optional>
#include <string>
#include <vector>

#include "detect/amd_facts.h"
#include "detect/host.h"
#include "detect/pci_bus.h"
#include "detect/verdict.h"

namespace axle::detect {

/// Whether a device node can be used.
enum class NodeState : std::uint8_t { missing, refused, open };

struct AmdDevice {
  std::string pci_address;
  bool on_bus = false;
  std::string driver;  ///< kernel driver bound to it, where it is on the bus
  bool in_topology = false;
  KfdNode node;
  bool withheld = false;  ///< in the topology, but this container may not have it
  NodeState render_node = NodeState::missing;
  std::string name;
  std::uint64_t memory = 0;
  bool integrated = false;
};

struct AmdSigns {
  std::vector<AmdDevice>
      devices;            ///< the topology's in its order (which masks count in), then others
  bool topology = false;  ///< the kernel has KFD
  NodeState kfd_node = NodeState::missing;
  std::string kernel_version;  ///< of an out-of-tree amdgpu module
  std::string rocm_version;
  std::string rocm_source;
  bool library = false;  ///< a ROCm SMI lies where the loader looks

  [[nodiscard]] bool worth_asking() const { return library; }
};

[[nodiscard]] AmdSigns look_for_amd(Host& host, const std::vector<DisplayDevice>& bus);

/// The environment variables that hide or rename AMD GPUs.
struct AmdEnvironment {
  std::optional<std::string> rocr_visible_devices;
  std::optional<std::string> hip_visible_devices;  ///< or CUDA_VISIBLE_DEVICES, which HIP reads too
  std::string gfx_override;                        ///< HSA_OVERRIDE_GFX_VERSION
};

[[nodiscard]] AmdEnvironment read_amd_environment(Host& host);

/// `answer` is nullptr when ROCm SMI was not asked.
[[nodiscard]] VendorFindings judge_amd(const AmdSigns& signs, const DriverAnswer* answer,
                                       std::chrono::milliseconds time_limit,
                                       const AmdEnvironment& environment);

}  // namespace axle::detect
