#pragma once
// From the real machine to its facts.

#include <chrono>
#include <vector>

#include "detect/host.h"
#include "detect/machine.h"

namespace axle::detect {

struct ProbeOptions {
  bool gpus = true;              ///< false: CPU, OS and libc only
  bool driver_libraries = true;  ///< false: sysfs and procfs only, no vendor library is loaded
  std::chrono::milliseconds driver_time_limit{3000};  ///< per vendor; the child is killed after it
  /// Vendors whose libraries are not queried, because their facts are stated elsewhere.
  std::vector<GpuVendor> stated = {};
};

/// All facts of the machine behind `host`. Never fails: what cannot be read is unknown, what is
/// broken has its reason there and in `problems`.
[[nodiscard]] Machine probe_machine(Host& host, const ProbeOptions& options = {});

}  // namespace axle::detect
