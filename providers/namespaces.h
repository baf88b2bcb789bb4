#pragma once
// The rows of the provider table, one per namespace, each defined in the file of its name; those
// about bundled libraries in bundled_libraries.cpp.

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
