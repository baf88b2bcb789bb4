// In process: what a machine's CPU costs to know, and every shipped machine through every provider.

#include <benchmark/benchmark.h>

#include "detect/host.h"
#include "detect/probe.h"
#include "foundation/report/report.h"
#include "machines/selection.h"
#include "machines/shipped_profiles.h"
#include "providers/provider.h"

namespace {

using namespace axle;

void cpu_facts(benchmark::State& state) {
  detect::ProbeOptions options;
  options.gpus = false;
  for (auto _ : state) {
    const auto host = detect::make_real_host();
    benchmark::DoNotOptimize(detect::probe_machine(*host, options));
  }
}
BENCHMARK(cpu_facts)->Unit(benchmark::kMicrosecond)->Repetitions(31)->ReportAggregatesOnly();

/// From the profile's text to the properties of every namespace.
void shipped_machines(benchmark::State& state) {
  for (auto _ : state) {
    for (const machines::ShippedProfile& profile : machines::shipped_profiles()) {
      CollectedReport report;
      const auto selected = machines::select_machines(profile.name, report);
      if (!selected) {
        state.SkipWithError("a shipped profile is not read");
        return;
      }
      for (const providers::Provider& provider : providers::builtin_providers()) {
        benchmark::DoNotOptimize(provider.supported(selected->front().machine, {}));
      }
    }
  }
  state.counters["machines"] = static_cast<double>(machines::shipped_profiles().size());
}
BENCHMARK(shipped_machines)->Unit(benchmark::kMillisecond)->Repetitions(31)->ReportAggregatesOnly();

}  // namespace
