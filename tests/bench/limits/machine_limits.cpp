// What limits a layer on this machine, for layers.py: the peaks of the multiplying instructions,
// and the rate of plain reads.
//
//   machine_limits BYTES PARTS THREADS
//
// The first line of stdout is {"about", "bytes", "kernels", "peaks"}: the usable kernel sets, best
// first, and the 10^9 operations a second that the instruction of each does at most, 0 where it was
// not measured. Each line of stdin, whatever it says, is answered
// {"seconds"}: of reading one of PARTS different pieces of memory of BYTES, in the best of some
// passes over all of them. Ends with stdin.

#include <cstdio>
#include <cstdlib>
#include <string>

#include "runtime/axle_runtime.h"
#include "runtime/engine.h"
#include "runtime/read_probe.h"
#include "tests/bench/limits/peak_rates.h"

namespace {

void print_limits(std::size_t bytes, int threads) {
  std::string kernels;
  std::string peaks;
  axle_kernel_info info{};
  info.struct_size = sizeof info;
  for (std::size_t i = 0; axle_kernel_at(i, &info) == AXLE_OK; ++i) {
    if (info.usable == 0) continue;
    const std::string name = std::string("\"") + info.name + '"';
    kernels += (kernels.empty() ? "" : ", ") + name;
    peaks += (peaks.empty() ? "" : ", ") + name + ": " +
             std::to_string(axle::bench::peak_gigaops(info.name, threads));
  }
  std::printf("{\"about\": \"plain reads\", \"bytes\": %zu, \"kernels\": [%s], \"peaks\": {%s}}\n",
              bytes, kernels.c_str(), peaks.c_str());
  std::fflush(stdout);
}

constexpr double least_seconds = 0.1;  // as long as layers.py measures a contender

double best_pass(axle::runtime::ReadProbe& probe) {
  double best = 0;
  double spent = 0;
  while (spent < least_seconds) {
    double pass = 0;
    for (std::size_t part = 0; part < probe.parts(); ++part) pass += probe.seconds(part);
    spent += pass;
    if (best == 0 || pass < best) best = pass;
  }
  return best / static_cast<double>(probe.parts());
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 4) {
    std::fprintf(stderr, "usage: machine_limits BYTES PARTS THREADS\n");
    return 2;
  }
  const std::size_t bytes = std::strtoull(argv[1], nullptr, 10);
  const std::size_t parts = std::strtoull(argv[2], nullptr, 10);
  const int threads = std::atoi(argv[3]);
  axle::runtime::Engine engine(threads);
  axle::runtime::ReadProbe probe(engine);
  if (engine.choose_kernels(nullptr, nullptr) != AXLE_OK || parts == 0 ||
      !probe.allocate(parts, bytes)) {
    std::fprintf(stderr, "machine_limits: no memory\n");
    return 1;
  }
  print_limits(probe.part_bytes(), threads);  // before the first read, which pins this thread
  for (int read = std::getchar(); read != EOF; read = std::getchar()) {
    if (read != '\n') continue;
    std::printf("{\"seconds\": %.9f}\n", best_pass(probe));
    std::fflush(stdout);
  }
  return 0;
}
