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

/// Why a driver serves no GPU of an architecture, which of its fields says so ("kernel_version"),
/// and the nearest one that does, as it is stated: "driver=570.26".
struct DriverMisfit {
  std::string reason;
  std::string field;
  std::string nearest;
};

struct VendorFacts {
  detect::GpuVendor vendor;
  /// Adds the facts of an inline part: "sm=90,driver=570.26" (machines/inline_facts.h).
  Result<void> (*add)(detect::Machine& machine, std::string_view text);
  /// "sm_90" -> "nvidia:sm=90"; nullopt if it is not an architecture of this vendor.
  std::optional<std::string> (*state_architecture)(std::string_view word);
  /// machines/possible_facts.h
  std::optional<std::string> (*nearest_arch)(std::string_view arch);
  std::optional<std::string> (*nearest_driver)(std::string_view version, std::string_view system);
  std::optional<std::string> (*nearest_api)(std::string_view version);
  /// `driver` is older than the first one for the machine's system that knows the GPU, newer
  /// than the last, or does not run what is stated of it; nullopt: none of that, or it is not
  /// known. `gpu`: nullptr: none is known.
  std::optional<DriverMisfit> (*driver_misfit)(const detect::Machine& machine,
                                               const detect::Gpu* gpu,
                                               const detect::Driver& driver);
  /// Whether GPUs of `arch` are parts of Jetsons alone; nullptr: none is.
  bool (*is_of_jetson)(std::string_view arch);
  bool has_windows_on_arm;  ///< there are drivers for it
  /// A working driver, for GPUs that are stated without one, and the message about it.
  detect::Driver (*assumed_driver)(const detect::Machine& machine);
  std::string (*describe_assumption)(const detect::Driver& driver);
  /// Completes what is stated of a driver by what follows from it on the machine's system; nullptr:
  /// nothing does.
  void (*complete_driver)(const detect::Machine& machine, detect::Driver& driver);
};

extern const VendorFacts nvidia_facts;
extern const VendorFacts amd_facts;
extern const VendorFacts intel_facts;

/// Of every row of detect::gpu_vendors().
[[nodiscard]] const VendorFacts& facts_of(detect::GpuVendor vendor);

}  // namespace axle::machines
