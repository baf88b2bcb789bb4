#pragma once
// An NVIDIA machine on which everything is right, for tests to break.

#include <string>

#include <doctest/doctest.h>

#include "detect/probe.h"
#include "tests/support/recorded_host.h"

namespace axle::testing {

inline const std::string h100 =
    "nvml.device\t0\t9.0\t00000000:65:00.0\t85899345920\tGPU-aaaa\tNVIDIA H100\n";

inline RecordedHost healthy_nvidia() {
  RecordedHost host;
  host.plug("0000:65:00.0", 0x10DE, 0x2330, "nvidia");
  host.files["/sys/module/nvidia/version"] = "550.54.14\n";
  for (const char* node : {"/dev/nvidiactl", "/dev/nvidia0", "/dev/nvidia-uvm"})
    host.add_node(node);
  host.say(
      detect::GpuVendor::nvidia,
      "cuda.file\t/usr/lib/x86_64-linux-gnu/libcuda.so.550.54.14\ncuda.version\t12040\n"
      "step\tnvmlInit\nnvml.init\t0\nnvml.driver\t550.54.14\nnvml.cuda\t12040\nnvml.count\t1\n" +
          h100);
  return host;
}

inline const detect::Driver& nvidia_driver_of(const detect::Machine& machine) {
  const detect::Driver* const driver = detect::find_driver(machine, detect::GpuVendor::nvidia);
  REQUIRE(driver != nullptr);
  return *driver;
}

/// The one GPU is blocked for that reason, the driver too, and the problem is told.
inline void check_nvidia_blocked(RecordedHost& host, const std::string& code) {
  using detect::Presence;
  const detect::Machine machine = probe_machine(host);
  CAPTURE(code);
  CHECK(nvidia_driver_of(machine).usable == Presence::blocked);
  CHECK(nvidia_driver_of(machine).reason_code == code);
  REQUIRE(machine.gpus.size() == 1);
  CHECK(machine.gpus[0].usable == Presence::blocked);
  CHECK(machine.gpus[0].reason_code == code);
  CHECK_FALSE(machine.gpus[0].reason.empty());
  CHECK(machine.gpus[0].pci_address == "0000:65:00.0");
  REQUIRE(machine.problems.size() == 1);
  CHECK(machine.problems[0].code == "nvidia." + code);
  CHECK_FALSE(machine.problems[0].message.empty());
  CHECK_FALSE(machine.problems[0].hint.empty());
}

}  // namespace axle::testing
