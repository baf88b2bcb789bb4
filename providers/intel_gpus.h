#pragma once
// Intel's GPUs by device IP, as in intel-variant-provider 0.0.3 and ocloc.

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "foundation/report/fact.h"
#include "providers/gpu_policy.h"

namespace axle::providers {

struct KnownIntelGpu {
  std::string_view ip;  ///< "20.2.0"
  std::string_view
      base;  ///< the platform whose code it also runs: "20.1.0"; empty where it is its own
  std::string_view names;      ///< ocloc's, space separated, '_' for '-': "bmg_g31"
  std::string_view base_name;  ///< of the base, or of itself where others build on it: "bmg"; or ""
};

/// Newest first: the order of the published list.
[[nodiscard]] std::span<const KnownIntelGpu> known_intel_gpus();
/// nullptr for an unknown one.
[[nodiscard]] const KnownIntelGpu* find_known_intel_gpu(std::string_view ip);

/// The names of each counted GPU and of its base: the values of `axle :: intel_platform`.
[[nodiscard]] std::vector<std::vector<std::string>> intel_names(const detect::Machine& machine,
                                                                const GpuPolicy& policy);
[[nodiscard]] std::vector<std::string> known_intel_names();
[[nodiscard]] Facts intel_platform_facts(const detect::Machine& machine, const GpuPolicy& policy,
                                         std::string_view value);

}  // namespace axle::providers
