#pragma once
// The machine that doctor examines, which of its GPUs count, and how the variants of one document
// fit it: as `resolve` would have it, but that no plugin is run.

#include <map>
#include <string>
#include <vector>

#include "detect/machine.h"
#include "foundation/report/fact.h"
#include "providers/gpu_policy.h"
#include "resolver/request/provider_policy.h"
#include "wheel/marker.h"
#include "wheel/variant/variant_metadata.h"
#include "wheel/version.h"

namespace axle::doctor {

struct JudgedMachine {
  const detect::Machine& machine;
  providers::GpuPolicy gpus = {};
  resolver::ProviderPolicy providers = {};  ///< what the user switched on and off

  /// As providers::counted_gpus.
  [[nodiscard]] std::vector<const detect::Gpu*> counted(detect::GpuVendor vendor) const {
    return providers::counted_gpus(machine, vendor, gpus);
  }
};

struct VariantFit {
  struct Misfit {
    wheel::Property property;  ///< none of whose feature's values is supported
    std::string rule;          ///< "nvidia :: sm_arch: none of 100_real, 90_real is supported"
    Facts facts;               ///< what the machine is instead; empty where nobody here can tell
    /// Nothing here says whether it is supported, and `facts` why; all other properties fit.
    bool unknown = false;
    /// `unknown` because the user switched the namespace off, or not on; a provider that Axle
    /// carries would tell.
    bool switched_off = false;

    /// The facts, else the rule.
    [[nodiscard]] std::string render() const { return facts.empty() ? rule : render_facts(facts); }
  };
  std::vector<std::string> fitting;  ///< labels, best first
  std::map<std::string, Misfit, std::less<>> rejected;
};

/// Normalised name -> what is installed of it.
using InstalledVersions = std::map<std::string, wheel::Version, std::less<>>;

[[nodiscard]] VariantFit judge_variants(const wheel::VariantMetadata& document,
                                        const JudgedMachine& judged,
                                        const wheel::MarkerEnvironment& markers,
                                        const InstalledVersions& installed = {});

/// Also where the system is not known.
[[nodiscard]] inline bool is_linux(const detect::Machine& machine) {
  return machine.os.system.empty() || machine.os.system == "Linux";
}

/// As index::FamilyBuild has platforms, "linux_x86_64"; empty for a system, C library or
/// architecture that no family has builds for. What is not known counts as Linux and glibc.
[[nodiscard]] std::string builds_platform(const detect::Machine& machine);

}  // namespace axle::doctor
