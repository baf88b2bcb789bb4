// Namespace `blas_lapack`, as blas-lapack-variant-provider 0.0.3 defines it: which BLAS and LAPACK
// a wheel was built with. It says nothing of the machine: the wheel brings the library along, so
// that every value is supported everywhere, in this order of preference.

#include <algorithm>

#include "providers/cpu_flags.h"
#include "providers/namespaces.h"

namespace axle::providers {

using detect::Machine;

namespace {

constexpr std::string_view ns = "blas_lapack";
constexpr std::string_view provider = "provider";
constexpr std::string_view values[] = {"accelerate", "openblas", "mkl"};

Features all() { return {{std::string(provider), false, {std::begin(values), std::end(values)}}}; }

Features supported(const Machine& /*machine*/, const GpuPolicy& /*policy*/) { return all(); }

std::string fact(const Machine& /*machine*/, const GpuPolicy& /*policy*/, std::string_view feature,
                 std::string_view value) {
  if (feature != provider || std::ranges::find(values, value) == std::end(values))
    return describe_unheard(ns, feature, value);
  return "the wheel brings its own BLAS and LAPACK, " + std::string(value);
}

constexpr std::string_view plugin_apis[] = {"", "blas_lapack_variant_provider"};

}  // namespace

Provider blas_lapack_provider() {
  return {.ns = ns,
          .package = "blas-lapack-variant-provider",
          .version = "0.0.3",
          .plugin_apis = plugin_apis,
          .aliases = {},
          .supported = supported,
          .all = all,
          .fact = fact,
          .every_value_fits = true};
}

}  // namespace axle::providers
