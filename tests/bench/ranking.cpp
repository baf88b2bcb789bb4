// How many releases a second are ordered: 20 variants over 3 namespaces and 6 features, the lists
// as long as the published providers make them. The bar is 100000 a second (docs/performance.md).

#include "resolver/choice/ranking.h"

#include <string>
#include <vector>

#include <benchmark/benchmark.h>

namespace {

using axle::resolver::SupportedProperties;
using axle::wheel::VariantMetadata;

std::vector<std::string> cuda_versions(unsigned newest_major, unsigned newest_minor) {
  std::vector<std::string> values;
  for (unsigned major = newest_major; major >= 11; --major) {
    for (unsigned minor = major == newest_major ? newest_minor + 1 : 21; minor-- > 0;) {
      values.push_back(std::to_string(major) + "." + std::to_string(minor));
    }
    values.push_back(std::to_string(major));
  }
  return values;
}

SupportedProperties supported_lists() {
  SupportedProperties supported;
  supported["nvidia"] = {
      {"cuda_version_lower_bound", false, cuda_versions(12, 8)},
      {"cuda_version_upper_bound", false, cuda_versions(15, 20)},
      {"sm_arch", true, {"90_real", "90_virtual"}},
  };
  supported["x86_64"] = {{"level", false, {"v4", "v3", "v2", "v1"}}};
  for (const char* flag : {"avx512_bf16", "avx512_vnni", "avx512_vbmi2", "gfni", "vaes", "sha_ni",
                           "avx512bw", "avx512cd", "avx512dq", "avx512f", "avx512vl", "adx"}) {
    supported["x86_64"].push_back({flag, false, {"on"}});
  }
  supported["blas_lapack"] = {{"provider", false, {"mkl", "openblas"}}};
  return supported;
}

VariantMetadata release_of_twenty() {
  VariantMetadata metadata;
  metadata.schema_version = "0.2.0";
  metadata.namespaces = {"nvidia", "x86_64", "blas_lapack"};
  const char* lower[] = {"12.8", "12.6", "11.8", "13.0"};
  const char* levels[] = {"v4", "v3", "v2", "v1", "v4"};
  for (unsigned cuda = 0; cuda < 4; ++cuda) {
    for (unsigned cpu = 0; cpu < 5; ++cpu) {
      if (cuda == 3 && cpu == 4) continue;
      const std::string label = "cu" + std::to_string(cuda) + "_cpu" + std::to_string(cpu);
      metadata.variants[label] = {
          {"nvidia", "cuda_version_lower_bound", lower[cuda]},
          {"nvidia", "cuda_version_upper_bound", "14"},
          {"nvidia", "sm_arch", "80_real"},
          {"nvidia", "sm_arch", "90_real"},
          {"x86_64", "level", levels[cpu]},
          {"x86_64", cpu == 4 ? "avx512_vnni" : "adx", "on"},
          {"blas_lapack", "provider", cpu % 2 == 0 ? "mkl" : "openblas"},
      };
    }
  }
  metadata.variants["null"] = {};
  return metadata;
}

void rank_twenty_variants(benchmark::State& state) {
  const VariantMetadata metadata = release_of_twenty();
  const SupportedProperties supported = supported_lists();
  for (auto _ : state) {
    benchmark::DoNotOptimize(axle::resolver::rank_variants(metadata, supported));
  }
  state.SetItemsProcessed(state.iterations());
}
BENCHMARK(rank_twenty_variants)->MinTime(0.1)->Repetitions(31)->ReportAggregatesOnly();

}  // namespace
