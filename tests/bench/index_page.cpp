// Project pages: JSON with 6,000 files, 3.9 MB, the size of the largest pages that there are; and
// HTML with 911 links, 410 KB, the shape and size of a large project with one build for each
// accelerator, read by both readers of HTML.
#include <cstdlib>
#include <string>

#include <benchmark/benchmark.h>
#include <fmt/format.h>

#include "index/pages/page.h"

namespace {

using axle::Report;
using axle::Result;
using axle::index::ProjectPage;

/// Entries as large indexes write them, with relative links: building absolute URLs is part of the
/// work.
std::string json_page(unsigned files) {
  std::string page = R"({"meta":{"api-version":"1.1","_last-serial":12345678},"name":"example",)"
                     R"("versions":["1.0"],"files":[)";
  for (unsigned i = 0; i < files; ++i) {
    const std::string name = fmt::format(
        "example_package-1.{}.{}-cp3{}-cp3{}-manylinux_2_17_x86_64.manylinux2014_x86_64.whl",
        i / 60, i % 60, 9 + i % 5, 9 + i % 5);
    const std::string digest = fmt::format("{:064x}", i * 2654435761ULL);
    const std::string of_metadata = fmt::format("{:064x}", i * 2654435761ULL + 1);
    page += fmt::format(
        R"({}{{"core-metadata":{{"sha256":"{}"}},"data-dist-info-metadata":{{"sha256":"{}"}},)"
        R"("filename":"{}","hashes":{{"sha256":"{}"}},"provenance":null,"requires-python":">=3.9",)"
        R"("size":{},"upload-time":"2026-05-04T12:30:45.123456Z","url":"../../packages/{}/{}/{}/{}",)"
        R"("yanked":false}})",
        i == 0 ? "" : ",", of_metadata, of_metadata, name, digest, 1000000 + i, digest.substr(0, 2),
        digest.substr(2, 2), digest.substr(4), name);
  }
  return page + "]}";
}

/// As torch's index writes it: files on another host, "+" in the name and "%2B" in the link, some
/// without a hash.
std::string html_page(unsigned links) {
  std::string page = "<!DOCTYPE html>\n<html>\n  <body>\n    <h1>Links for torch</h1>\n";
  for (unsigned i = 0; i < links; ++i) {
    const auto name = [&](const char* plus) {
      return fmt::format("torch-2.{}.{}{}cu12{}-cp3{}-cp3{}-manylinux_2_28_x86_64.whl", i / 90,
                         i % 3, plus, i % 9, 9 + i % 6, 9 + i % 6);
    };
    const std::string digest = fmt::format("{:064x}", i * 2654435761ULL);
    const std::string of_metadata = fmt::format("{:064x}", i * 2654435761ULL + 1);
    const std::string hash = i % 8 == 0 ? "" : "#sha256=" + digest;
    page += fmt::format(
        "    <a href=\"https://files.example/whl/cu12{}/{}{}\" "
        "data-dist-info-metadata=\"sha256={}\" "
        "data-core-metadata=\"sha256={}\" data-upload-time=\"2026-04-0{}T12:30:45Z\">{}</a><br/>\n",
        i % 9, name("%2B"), hash, of_metadata, of_metadata, 1 + i % 9, name("+"));
  }
  return page + "  </body>\n</html>\n<!--TIMESTAMP 1754321098-->\n";
}

template <class Parse>
void parse(benchmark::State& state, const std::string& page, const Parse& parse_page) {
  axle::CollectedReport report;
  for (auto _ : state) {
    // Reading is what is measured, not the arrival of the bytes nor giving 24,000 strings back.
    state.PauseTiming();
    std::string body;
    body.reserve(page.size() * 3 / 2);  // as a body that grew while it arrived
    body = page;
    state.ResumeTiming();
    Result<ProjectPage> parsed = parse_page(std::move(body), report);
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

void parse_json(benchmark::State& state) {
  parse(state, json_page(static_cast<unsigned>(state.range(0))),
        [](std::string body, Report& report) {
          return axle::index::parse_json_page(std::move(body),
                                              "https://index.example/simple/example/", report);
        });
}

void parse_html(benchmark::State& state) {
  parse(state, html_page(static_cast<unsigned>(state.range(0))),
        [](const std::string& body, Report& report) {
          return axle::index::parse_html_page(body, "https://index.example/simple/torch/", report);
        });
}

void set_up(benchmark::internal::Benchmark* page) {
  page->Unit(benchmark::kMillisecond)->MinTime(0.1)->Repetitions(31)->ReportAggregatesOnly();
}
BENCHMARK(parse_json)->Name("page_parse")->Arg(6000)->Apply(set_up);
BENCHMARK(parse_html)->Name("html_page_parse")->Arg(911)->Apply(set_up);

}  // namespace
