// Namespaces `blas_lapack` and `openmp`, as blas-lapack-variant-provider 0.0.3 and
// openmp-variant-provider 0.0.2 define them: which library a wheel was built with. They do not
// depend on the machine: the wheel bundles the library, so every value is supported everywhere, in
// the published order of preference.

#include <algorithm>
#include <array>

#include "providers/cpu_flags.h"
#include "providers/namespaces.h"

namespace axle::providers {

using detect::Machine;

namespace {

struct BundledLibrary {
  std::string_view ns;
  std::string_view package;
  std::string_view version;
  std::array<std::string_view, 2> plugin_apis;
  std::string_view title;
  std::array<std::string_view, 3> values;
};

constexpr BundledLibrary blas_lapack = {"blas_lapack",     "blas-lapack-variant-provider",
                                        "0.0.3",           {"", "blas_lapack_variant_provider"},
                                        "BLAS and LAPACK", {"accelerate", "openblas", "mkl"}};
constexpr BundledLibrary openmp = {"openmp",         "openmp-variant-provider",
                                   "0.0.2",          {"", "openmp_variant_provider"},
                                   "OpenMP runtime", {"gnu", "intel", "llvm"}};

constexpr std::string_view feature_name = "provider";

template <const BundledLibrary& library>
Features all() {
  return {{std::string(feature_name), false, {library.values.begin(), library.values.end()}}};
}

template <const BundledLibrary& library>
Features supported(const Machine& /*machine*/, const GpuPolicy& /*policy*/) {
  return all<library>();
}

template <const BundledLibrary& library>
Facts facts(const Machine& /*machine*/, const GpuPolicy& /*policy*/, std::string_view feature,
            std::string_view value) {
  if (feature != feature_name || std::ranges::find(library.values, value) == library.values.end())
    return {unknown_property(library.ns, feature, value)};
  return {{FactCode::bundled_library, std::string(library.title), {std::string(value)}}};
}

template <const BundledLibrary& library>
Provider provider_of() {
  return {.ns = library.ns,
          .package = library.package,
          .version = library.version,
          .plugin_apis = library.plugin_apis,
          .aliases = {},
          .supported = supported<library>,
          .all = all<library>,
          .facts = facts<library>,
          .every_value_fits = true};
}

}  // namespace

Provider blas_lapack_provider() { return provider_of<blas_lapack>(); }
Provider openmp_provider() { return provider_of<openmp>(); }

}  // namespace axle::providers
