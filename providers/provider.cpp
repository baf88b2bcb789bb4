#include "providers/provider.h"

#include "providers/namespaces.h"

namespace axle::providers {

std::span<const Provider> builtin_providers() {
  static const Provider providers[] = {
      nvidia_provider(),  amd_provider(),    intel_provider(), x86_64_provider(),
      aarch64_provider(), ascend_provider(), tpu_provider(),   blas_lapack_provider(),
      openmp_provider(),  axle_provider(),
  };
  return providers;
}

std::vector<std::string> builtin_namespaces() {
  std::vector<std::string> names;
  for (const Provider& provider : builtin_providers()) names.emplace_back(provider.ns);
  return names;
}

const Provider* find_provider(std::string_view ns) {
  for (const Provider& provider : builtin_providers()) {
    if (provider.ns == ns) return &provider;
  }
  return nullptr;
}

}  // namespace axle::providers
