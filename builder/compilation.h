#pragma once
// What the compilers of a row are told: what its properties mean, and what the row says instead.

#include <string>
#include <vector>

#include "builder/compile_flags.h"
#include "builder/table/row_settings.h"
#include "wheel/variant/variant_metadata.h"

namespace axle::builder {

/// Code for a GPU, as its compiler calls it.
struct GpuTarget {
  std::string name;      ///< "90-real", "gfx90a", "intel_gpu_20_1_0"
  std::string property;  ///< that requires it
};

struct Compilation {
  std::vector<CompileFlag> flags;  ///< of C and C++
  std::vector<std::string> args;   ///< compile-args, after them
  std::vector<GpuTarget> cuda;     ///< CMAKE_CUDA_ARCHITECTURES
  std::vector<GpuTarget> hip;      ///< --offload-arch
  std::vector<GpuTarget> sycl;     ///< -fsycl-targets

  /// The flags and args, joined by blanks.
  [[nodiscard]] std::string host_flags() const;
};

/// `nvidia :: sm_arch :: 90_real` and the code features of `axle` are CUDA's architectures, those
/// of AMD offload architectures, those of Intel SYCL targets. PTX of a toolkit (`cuda_code_or_jit
/// :: 12.8`) is none.
[[nodiscard]] Compilation compilation_of(const wheel::VariantProperties& properties,
                                         const RowSettings& settings);

/// "80-real;90-real", in the order of the targets.
[[nodiscard]] std::string join_targets(const std::vector<GpuTarget>& targets, char separator);

/// "8.0;9.0a+PTX", as extensions of torch have it; empty without targets.
[[nodiscard]] std::string torch_arch_list(const std::vector<GpuTarget>& cuda);

}  // namespace axle::builder
