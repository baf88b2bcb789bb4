#pragma once
// What a variant's properties promise of every machine that may install it.

#include <set>
#include <string>
#include <vector>

#include "detect/capability.h"
#include "detect/machine.h"
#include "wheel/variant/variant_metadata.h"

namespace axle::builder {

/// Of a CPU architecture that the properties are about; `other` when they say nothing of the CPU.
[[nodiscard]] detect::Arch declared_architecture(const wheel::VariantProperties& properties);

/// What every CPU of `arch` has that fits the properties: the baseline of `arch`, what they name,
/// and what no CPU lacks that has it (AVX-512's parts but those of Xeon Phi come with x86-64-v4,
/// AMX too). Of several values of a feature any may be what fits, so that the least counts.
[[nodiscard]] std::set<detect::Capability> declared_capabilities(
    const wheel::VariantProperties& properties, detect::Arch arch);

/// A GPU that the properties name: code for it must be in a wheel that has any for its vendor.
struct DeclaredGpu {
  std::string property;  ///< "nvidia :: sm_arch :: 80_real"
  detect::GpuVendor vendor;
  std::string arch;      ///< as detect::Gpu has it; of `generic` the target's processor
  bool ptx = false;      ///< PTX that newer GPUs take too
  bool generic = false;  ///< an AMD target of a whole family
};
[[nodiscard]] std::vector<DeclaredGpu> declared_gpus(const wheel::VariantProperties& properties);

}  // namespace axle::builder
