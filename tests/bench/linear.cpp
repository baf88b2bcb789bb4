// The runtime's linear layer by kernel set and rows: time, rate of weights beside the rate of plain
// reads in the same run, the time's floor beside it (the slower of reading the weights and of the
// operations at the peak of the set's instruction), and the ratio to the baseline (what the `null`
// wheel runs).
//
//   bench_runtime [KERNEL…]      default: the choice of the machine, then every usable set; without
//                                `baseline` among them nothing is compared with it

#include <algorithm>
#include <cstdio>
#include <map>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "runtime/axle_runtime.h"
#include "tests/bench/limits/peak_rates.h"

namespace {

struct Shape {
  axle_mode mode;
  std::size_t m;
  std::size_t group = 0;
  axle_scaling scaling = AXLE_SEARCHED;
};

std::string name_of(const Shape& shape) {
  static constexpr const char* modes[] = {"da8w8", "a16w8", "a16w4", "da8w4", "a16f8"};
  std::string name = modes[shape.mode];
  if (shape.scaling == AXLE_TWO_LEVEL) return name + " 2l";
  return shape.group == 0 ? name : name + " g" + std::to_string(shape.group);
}

constexpr Shape shapes[] = {{AXLE_DA8W8, 1},
                            {AXLE_A16W8, 1},
                            {AXLE_DA8W8, 4},
                            {AXLE_A16W8, 4},
                            {AXLE_DA8W8, 8},
                            {AXLE_A16W8, 8},
                            {AXLE_DA8W8, 16},
                            {AXLE_DA8W8, 32},
                            {AXLE_DA8W8, 128},
                            {AXLE_A16W8, 128},
                            {AXLE_DA8W4, 1, 128},
                            {AXLE_A16W4, 1, 128},
                            {AXLE_DA8W4, 4, 128},
                            {AXLE_DA8W4, 8, 128},
                            {AXLE_A16W4, 8, 128},
                            {AXLE_DA8W4, 32, 128},
                            {AXLE_DA8W4, 128, 128},
                            {AXLE_A16W4, 1, 64},
                            {AXLE_A16W4, 8, 64},
                            {AXLE_A16W4, 1, 32},
                            {AXLE_A16W4, 8, 32},
                            {AXLE_A16W4, 1, 32, AXLE_TWO_LEVEL},
                            {AXLE_DA8W4, 8, 32, AXLE_TWO_LEVEL},
                            {AXLE_A16W4, 8, 32, AXLE_TWO_LEVEL},
                            {AXLE_DA8W4, 32, 32, AXLE_TWO_LEVEL},
                            {AXLE_DA8W4, 128, 32, AXLE_TWO_LEVEL},
                            {AXLE_A16F8, 1},
                            {AXLE_A16F8, 8},
                            {AXLE_A16F8, 32},
                            {AXLE_A16F8, 128}};

struct Figures {
  std::string kernel;
  axle_bench_result result{};
  double peak = 0;  ///< of the kernel's instruction, 10^9 operations a second, 0: not measured
};

/// Of quantised operations: two planes need twice as many.
double operations_of(const Shape& shape) {
  const double planes = shape.mode == AXLE_A16W8 || shape.mode == AXLE_A16W4 ? 2 : 1;
  return 2.0 * planes * static_cast<double>(shape.m) * 4096 * 4096;
}

/// The least time that the measured limits allow, by the time that was taken.
double floor_share(const Shape& shape, const Figures& figures) {
  const axle_bench_result& result = figures.result;
  const double reading = result.gigabytes_per_second / result.read_gigabytes_per_second;
  if (figures.peak == 0 || shape.mode == AXLE_A16F8) return reading;
  const double computing = operations_of(shape) / (figures.peak * 1e3) / result.microseconds;
  return std::max(reading, computing);
}

/// Measured before there is a runtime: it pins the thread that uses it, and threads that are made
/// then inherit the one CPU.
std::map<std::string, double> measure_peaks() {
  std::map<std::string, double> peaks;
  const int threads = static_cast<int>(std::thread::hardware_concurrency());
  axle_kernel_info info{};
  info.struct_size = sizeof info;
  for (std::size_t i = 0; axle_kernel_at(i, &info) == AXLE_OK; ++i)
    peaks[info.name] = axle::bench::peak_gigaops(info.name, threads);
  return peaks;
}

double peak_of(const std::string& kernel) {
  static const std::map<std::string, double> peaks = measure_peaks();
  const auto found = peaks.find(kernel);
  return found == peaks.end() ? 0 : found->second;
}

bool measure(const std::string& kernel, const Shape& shape, Figures& figures) {
  static_cast<void>(peak_of(kernel));
  axle_runtime_options options{};
  options.struct_size = sizeof options;
  options.kernel = kernel.c_str();
  axle_error error{};
  axle_runtime* made = nullptr;
  if (axle_runtime_create(&options, &made, &error) == AXLE_OK) {
    const std::unique_ptr<axle_runtime, decltype(&axle_runtime_destroy)> runtime(
        made, axle_runtime_destroy);
    axle_bench_options bench{};
    bench.struct_size = sizeof bench;
    bench.mode = shape.mode;
    bench.m = shape.m;
    bench.group = shape.group;
    bench.scaling = shape.scaling;
    bench.n = bench.k = 4096;
    bench.seconds = 0.6;
    figures.result.struct_size = sizeof figures.result;
    figures.kernel = axle_runtime_kernel(made, shape.mode, shape.m);
    figures.peak = peak_of(figures.kernel);
    if (axle_runtime_bench(made, &bench, &figures.result, &error) == AXLE_OK) return true;
  }
  std::fprintf(stderr, "%s: %s\n", kernel.c_str(), error.message);
  return false;
}

/// False when a kernel set that was asked for cannot run.
bool print_table(const std::vector<std::string>& kernels) {
  bool complete = true;
  std::printf("4096 x 4096, weights of at least 256 MiB in turn, best of all passes\n");
  std::printf("%-10s %4s  %-12s %9s %8s %8s %6s %9s %9s %6s %9s\n", "mode", "m", "kernel", "us",
              "GB/s", "read", "frac", "GOPS", "peak", "floor", "x null");
  const bool beside_null = std::ranges::find(kernels, "baseline") != kernels.end();
  for (const Shape& shape : shapes) {
    Figures null;
    if (beside_null && !measure("baseline", shape, null)) return false;
    for (const std::string& kernel : kernels) {
      Figures figures = null;
      if (kernel != "baseline" && !measure(kernel, shape, figures)) {
        complete = false;
        continue;
      }
      const axle_bench_result& result = figures.result;
      std::printf("%-10s %4zu  %-12s %9.0f %8.1f %8.1f %6.2f %9.0f %9.0f %6.2f %9.2f\n",
                  name_of(shape).c_str(), shape.m, figures.kernel.c_str(), result.microseconds,
                  result.gigabytes_per_second, result.read_gigabytes_per_second,
                  result.gigabytes_per_second / result.read_gigabytes_per_second,
                  operations_of(shape) / result.microseconds / 1e3, figures.peak,
                  floor_share(shape, figures),
                  beside_null ? null.result.microseconds / result.microseconds : 0);
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
    for (std::size_t i = 0; i < axle_kernel_count(); ++i) {
      axle_kernel_info info{};
      info.struct_size = sizeof info;
      if (axle_kernel_at(i, &info) == AXLE_OK && info.usable != 0) kernels.emplace_back(info.name);
    }
  }
  return print_table(kernels) ? 0 : 1;
}
