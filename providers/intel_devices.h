#pragma once
// Intel's GPUs by their device IP, as intel-variant-provider 0.0.3 and ocloc know them.

#include <span>
#include <string_view>

namespace axle::providers {

struct IntelDevice {
  std::string_view ip;  ///< "20.2.0"
  std::string_view
      base;  ///< the platform whose code it also runs: "20.1.0"; empty where it is its own
  std::string_view names;      ///< ocloc's, space separated, '_' for '-': "bmg_g31"
  std::string_view base_name;  ///< of the base, or of itself where others build on it: "bmg"; or ""
};

/// Newest first: the order of the published list.
[[nodiscard]] std::span<const IntelDevice> intel_devices();
/// nullptr for one that is not known.
[[nodiscard]] const IntelDevice* find_intel_device(std::string_view ip);

}  // namespace axle::providers
