#pragma once
// The rows of the provider table, one a namespace, each made in the file of its name; those that
// only say what a wheel brings along, in bundled_libraries.cpp.

#include "providers/provider.h"

namespace axle::providers {

[[nodiscard]] Provider nvidia_provider();
[[nodiscard]] Provider amd_provider();
[[nodiscard]] Provider intel_provider();
[[nodiscard]] Provider x86_64_provider();
[[nodiscard]] Provider aarch64_provider();
[[nodiscard]] Provider ascend_provider();
[[nodiscard]] Provider tpu_provider();
[[nodiscard]] Provider blas_lapack_provider();
[[nodiscard]] Provider openmp_provider();
[[nodiscard]] Provider axle_provider();

}  // namespace axle::providers
