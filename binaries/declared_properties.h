#pragma once
// What a variant's properties guarantee for every machine that may install it.

#include <set>
#include <string>
#include <vector>

#include "binaries/binary_scan.h"
#include "binaries/gpu_code_match.h"
#include "detect/capability.h"
#include "detect/machine.h"
#include "wheel/variant/variant_metadata.h"

namespace axle::binaries {

/// The CPU architecture of the properties; `other` if they do not concern the CPU.
[[nodiscard]] detect::Arch declared_architecture(const wheel::VariantProperties& properties);

/// The features of every CPU of `arch` that matches the properties: the baseline of `arch`, the
/// declared ones, and those that no such CPU lacks (AVX-512's parts, except those of Xeon Phi, come
/// with x86-64-v4, and so does AMX). Of several values of a feature any may match, so the lowest
/// counts.
[[nodiscard]] std::set<detect::Capability> declared_capabilities(
    const wheel::VariantProperties& properties, detect::Arch arch);

/// A GPU in the properties: a wheel with code for its vendor must have code for it.
struct DeclaredGpu {
  std::string property;  ///< "nvidia :: sm_arch :: 80_real"
  detect::GpuVendor vendor;
  std::string arch;      ///< in the form of detect::Gpu; for `generic` the target's processor
  bool ptx = false;      ///< PTX that newer GPUs accept too
  bool generic = false;  ///< an AMD target for a whole family
};
[[nodiscard]] std::vector<DeclaredGpu> declared_gpus(const wheel::VariantProperties& properties);

/// The oldest CUDA that drivers of every machine run which may install it: "12.0"; empty: any.
[[nodiscard]] std::string declared_cuda(const wheel::VariantProperties& properties);

/// The properties that no CPU of that architecture has, as rendered.
[[nodiscard]] std::vector<std::string> properties_of_others(
    const wheel::VariantProperties& properties, detect::Arch arch);

/// Whether a library's code runs on that GPU: with PTX on every GPU from the declared one on, with
/// a generic target on its family. `cuda`: what its driver runs, as of declared_cuda; empty: the
/// newest.
[[nodiscard]] CodeFit judge_declared_gpu(const BinaryFacts& facts, const DeclaredGpu& declared,
                                         const std::string& cuda = {});

}  // namespace axle::binaries
