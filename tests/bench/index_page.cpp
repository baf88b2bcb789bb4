// A project page of 6,000 files, 4.4 MB: the size of the largest pages that there are.
#include <cstdlib>
#include <string>

#include <benchmark/benchmark.h>
#include <fmt/format.h>

#include "index/page.h"

namespace {

/// Entries as large indexes write them, with relative links: building absolute URLs is part of the
/// work.
std::string page_of(unsigned files) {
  std::string page = R"({"meta":{"api-version":"1.1","_last-serial":12345678},"name":"example",)"
                     R"("versions":["1.0"],"files":[)";
  for (unsigned i = 0; i < files; ++i) {
    const std::string name = fmt::format(
        "example_package-1.{}.{}-cp3{}-cp3{}-manylinux_2_17_x86_64.manylinux2014_x86_64.whl",
        i / 60, i % 60, 9 + i % 5, 9 + i % 5);
    const std::string digest = fmt::format("{:064x}", i * 2654435761ULL);
    page += fmt::format(
        R"({}{{"core-metadata":{{"sha256":"{}"}},"data-dist-info-metadata":{{"sha256":"{}"}},)"
        R"("filename":"{}","hashes":{{"sha256":"{}"}},"provenance":null,"requires-python":">=3.9",)"
        R"("size":{},"upload-time":"2026-05-04T12:30:45.123456Z","url":"../../packages/{}/{}/{}/{}",)"
        R"("yanked":false}})",
        i == 0 ? "" : ",", digest, digest, name, digest, 1000000 + i, digest.substr(0, 2),
        digest.substr(2, 2), digest.substr(4), name);
  }
  return page + "]}";
}

void parse_page(benchmark::State& state) {
  const std::string page = page_of(static_cast<unsigned>(state.range(0)));
  axle::CollectedReport report;
  for (auto _ : state) {
    // Reading is what is measured, not the arrival of the bytes nor giving 24,000 strings back.
    state.PauseTiming();
    std::string body;
    body.reserve(page.size() * 3 / 2);  // as a body that grew while it arrived
    body = page;
    state.ResumeTiming();
    auto parsed = axle::index::parse_json_page(std::move(body),
                                               "https://index.example/simple/example/", report);
    state.PauseTiming();
    if (!parsed || parsed->files.size() != static_cast<std::size_t>(state.range(0))) {
      state.SkipWithError("the page was not read");
      return;
    }
    parsed->files.clear();
    state.ResumeTiming();
  }
  state.SetBytesProcessed(state.iterations() * static_cast<std::int64_t>(page.size()));
}

BENCHMARK(parse_page)
    ->Name("page_parse")
    ->Arg(6000)
    ->Unit(benchmark::kMillisecond)
    ->MinTime(0.1)
    ->Repetitions(31)
    ->ReportAggregatesOnly();

}  // namespace
