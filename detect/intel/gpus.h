#pragma once
// Intel: what files show, and the verdict after Level Zero was queried.

#include <optional>
#include <string>
#include <vector>

#include "detect/host.h"
#include "detect/pci_bus.h"
#include "detect/verdict.h"

namespace axle::detect {

struct IntelDevice {
  DisplayDevice bus;
  std::string render_node;  ///< "/dev/dri/renderD128"; empty if the kernel driver created none
  bool node_exists = false;
  bool node_usable = false;
  bool candidate = false;  ///< of a generation that XPU software runs on, as far as files show
};

struct IntelSigns {
  std::vector<IntelDevice> devices;
  std::string kernel_version;  ///< of an out-of-tree i915 or xe module
  bool loader = false;         ///< a Level Zero loader is where the loader searches
  bool invited = false;  ///< Level Zero is on LD_LIBRARY_PATH, or the system has Intel's driver

  [[nodiscard]] bool candidates() const;
  [[nodiscard]] bool worth_asking() const { return invited || (loader && candidates()); }
};

[[nodiscard]] IntelSigns look_for_intel(Host& host, const std::vector<DisplayDevice>& bus);

/// `answer` is nullptr if Level Zero was not queried; `asked_for` says whether the caller wanted it
/// queried. `affinity` is ZE_AFFINITY_MASK, if set.
[[nodiscard]] VendorFindings judge_intel(const IntelSigns& signs, const DriverAnswer* answer,
                                         bool asked_for, std::chrono::milliseconds time_limit,
                                         const std::optional<std::string>& affinity);

}  // namespace axle::detect
