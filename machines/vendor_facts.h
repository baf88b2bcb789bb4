#pragma once
// What can be stated about each vendor's GPUs and drivers, one row per vendor: its words, the
// possible values, and the defaults. The functions of a row are in the vendor's own file.

#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "detect/machine.h"
#include "foundation/report/error.h"

namespace axle::machines {

struct VendorFacts {
  detect::GpuVendor vendor;
  /// Adds the facts of an inline part: "sm=90,driver=570.26" (machines/inline_facts.h).
  Result<void> (*add)(detect::Machine& machine, std::string_view text);
  /// "sm_90" -> "nvidia:sm=90"; nullopt if it is not an architecture of this vendor.
  std::optional<std::string> (*state_architecture)(std::string_view word);
  /// machines/possible_facts.h
  std::optional<std::string> (*nearest_arch)(std::string_view arch);
  std::optional<std::string> (*nearest_driver)(std::string_view version);
  std::optional<std::string> (*nearest_api)(std::string_view version);
  /// A working driver, for GPUs that are stated without one, and the message about it.
  detect::Driver (*assumed_driver)();
  std::string (*describe_assumption)(const detect::Driver& driver);
};

extern const VendorFacts nvidia_facts;
extern const VendorFacts amd_facts;
extern const VendorFacts intel_facts;

/// Of every row of detect::gpu_vendors().
[[nodiscard]] const VendorFacts& facts_of(detect::GpuVendor vendor);

}  // namespace axle::machines
