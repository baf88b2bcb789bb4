#pragma once
// The machine that doctor examines, which of its GPUs count, and how the variants of one document
// fit it: like `resolve`, but without running plugins.

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
  resolver::ProviderPolicy providers = {};  ///< the namespaces that the user enabled and disabled

  /// As providers::counted_gpus.
  [[nodiscard]] std::vector<const detect::Gpu*> counted(detect::GpuVendor vendor) const {
    return providers::counted_gpus(machine, vendor, gpus);
  }
};

struct VariantFit {
  struct Misfit {
    wheel::Property property;  ///< none of whose feature's values is supported
    std::string rule;          ///< "nvidia :: sm_arch: none of 100_real, 90_real is supported"
    Facts facts;               ///< what the machine is instead; empty if unknown here
    /// Nothing here determines whether it is supported, and `facts` why; all other properties fit.
    bool unknown = false;
    /// `unknown` because the user disabled the namespace, or did not enable it; a bundled provider
    /// would know.
    bool switched_off = false;
    bool abi = false;  ///< it asks for a version of another package

    /// The facts, else the rule.
    [[nodiscard]] std::string render() const { return facts.empty() ? rule : render_facts(facts); }
  };
  std::vector<std::string> fitting;  ///< labels, best first
  std::map<std::string, Misfit, std::less<>> rejected;
};

/// Normalised name -> installed packages with that name.
using InstalledVersions = std::map<std::string, wheel::Version, std::less<>>;

[[nodiscard]] VariantFit judge_variants(const wheel::VariantMetadata& document,
                                        const JudgedMachine& judged,
                                        const wheel::MarkerEnvironment& markers,
                                        const InstalledVersions& installed = {});

/// Also if the system is unknown.
[[nodiscard]] inline bool is_linux(const detect::Machine& machine) {
  return machine.os.system.empty() || machine.os.system == "Linux";
}

/// In the form of index::FamilyBuild, "linux_x86_64"; empty for a system, C library or architecture
/// that no family has builds for. Unknown values count as Linux and glibc.
[[nodiscard]] std::string builds_platform(const detect::Machine& machine);

}  // namespace axle::doctor
