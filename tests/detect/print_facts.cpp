// Prints the facts of this machine, one per line, or with the name of a vendor what its libraries
// say.
//   detect_print_facts TIME_LIMIT_MS [nvidia|amd|intel]
#include <array>
#include <cstdio>
#include <cstdlib>
#include <string>

#include "detect/probe.h"

using namespace axle::detect;

namespace {

void print(const char* key, const std::string& value) {
  std::printf("%s=%s\n", key, value.c_str());
}

void print_facts(const Machine& machine) {
  for (const Driver& driver : machine.drivers) {
    print("driver", std::string(render_vendor(driver.vendor)));
    print("driver.library", driver.library_version);
    print("driver.api", driver.api_version);
    print("driver.api_source", driver.api_source);
    print("driver.compat", driver.compat_version);
    print("driver.usable", std::string(render_presence(driver.usable)));
    print("driver.reason", driver.reason_code);
  }
  for (const Gpu& gpu : machine.gpus) {
    print("gpu", std::string(render_vendor(gpu.vendor)));
    print("gpu.name", gpu.name);
    print("gpu.address", gpu.pci_address);
    print("gpu.arch", gpu.arch);
    print("gpu.pci_id", gpu.pci_id);
    print("gpu.mig", gpu.mig ? "yes" : "no");
    print("gpu.memory", std::to_string(gpu.memory_bytes.value_or(0)));
    print("gpu.usable", std::string(render_presence(gpu.usable)));
    print("gpu.masked", gpu.masked ? "yes" : "no");
    print("gpu.reason", gpu.reason_code);
  }
  for (const Problem& problem : machine.problems) {
    print("problem", problem.code);
    print("message", problem.message);
  }
}

void print_answer(const DriverAnswer& answer) {
  static constexpr std::array ends{"finished", "crashed", "timed_out", "not_started",
                                   "not_recorded"};
  print("end", ends[static_cast<std::size_t>(answer.end)]);
  print("signal", std::to_string(answer.signal));
  std::fputs(answer.lines.c_str(), stdout);
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 2) return 2;
  const std::chrono::milliseconds limit(std::atoi(argv[1]));
  const auto host = make_real_host();
  if (argc == 2) {
    print_facts(probe_machine(*host, {.driver_time_limit = limit}));
    return 0;
  }
  for (const GpuVendor vendor : {GpuVendor::nvidia, GpuVendor::amd, GpuVendor::intel}) {
    if (render_vendor(vendor) != argv[2]) continue;
    print_answer(host->ask_drivers({&vendor, 1}, limit).front());
  }
  return 0;
}
