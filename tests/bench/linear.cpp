// The runtime's linear layer by kernel set and rows: time, rate of weights beside the rate of plain
// reads in the same run, and the ratio to the baseline (what the `null` wheel runs).
//
//   bench_runtime [KERNEL…]      default: the choice of the machine, then every usable set

#include <cstdio>
#include <string>
#include <vector>

#include "runtime/runtime.h"

namespace {

using axle::runtime::BenchFigures;
using axle::runtime::BenchShape;
using axle::runtime::Mode;

struct Shape {
  Mode mode;
  std::size_t m;
};

constexpr Shape shapes[] = {
    {Mode::da8w8, 1}, {Mode::a16w8, 1},  {Mode::da8w8, 4},  {Mode::a16w8, 4},   {Mode::da8w8, 8},
    {Mode::a16w8, 8}, {Mode::da8w8, 16}, {Mode::da8w8, 32}, {Mode::da8w8, 128}, {Mode::a16w8, 128}};

bool measure(const std::string& kernel, const Shape& shape, BenchFigures& figures) {
  const axle::runtime::Outcome outcome = axle::runtime::bench(
      {kernel, 0}, BenchShape{.mode = shape.mode, .m = shape.m, .seconds = 0.6}, figures);
  if (!outcome.ok()) std::fprintf(stderr, "%s: %s\n", kernel.c_str(), outcome.problem.c_str());
  return outcome.ok();
}

/// False when a kernel set that was asked for cannot run.
bool print_table(const std::vector<std::string>& kernels) {
  bool complete = true;
  std::printf("4096 x 4096, weights of at least 256 MiB in turn, best of all passes\n");
  std::printf("%-7s %4s  %-12s %9s %8s %8s %6s %9s %9s\n", "mode", "m", "kernel", "us", "GB/s",
              "read", "frac", "GOPS", "x null");
  for (const Shape& shape : shapes) {
    BenchFigures null;
    if (!measure("baseline", shape, null)) return false;
    for (const std::string& kernel : kernels) {
      BenchFigures figures = null;
      if (kernel != "baseline" && !measure(kernel, shape, figures)) {
        complete = false;
        continue;
      }
      std::printf("%-7s %4zu  %-12s %9.0f %8.1f %8.1f %6.2f %9.0f %9.2f\n",
                  shape.mode == Mode::da8w8 ? "da8w8" : "a16w8", shape.m, figures.kernel.c_str(),
                  figures.microseconds, figures.gigabytes_per_second,
                  figures.read_gigabytes_per_second,
                  figures.gigabytes_per_second / figures.read_gigabytes_per_second,
                  figures.gigaops_per_second, null.microseconds / figures.microseconds);
      std::fflush(stdout);
    }
  }
  return complete;
}

}  // namespace

int main(int argc, char** argv) {
  std::vector<std::string> kernels(argv + 1, argv + argc);
  if (kernels.empty()) {
    kernels.emplace_back();
    axle::runtime::RuntimeInfo info;
    if (!axle::runtime::describe({}, info).ok()) return 1;
    for (const axle::runtime::KernelStatus& kernel : info.kernels) {
      if (kernel.usable) kernels.push_back(kernel.name);
    }
  }
  return print_table(kernels) ? 0 : 1;
}
