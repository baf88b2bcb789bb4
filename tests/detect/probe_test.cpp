#include "detect/probe.h"

#include <doctest/doctest.h>

#include "tests/support/recorded_host.h"

using namespace axle::detect;
using axle::testing::RecordedHost;

TEST_CASE("a machine without GPUs asks no driver and has no GPU facts") {
  RecordedHost host;
  host.give_level(3);
  host.xcr0_value = 7;
  host.files["/etc/os-release"] = "PRETTY_NAME=\"Debian\"\n";
  host.plug("0000:00:01.0", 0x1234, 0x1111, "bochs");
  const Machine machine = probe_machine(host);
  CHECK(machine.os.system == "Linux");
  CHECK(machine.os.kernel == "6.1.0");
  CHECK(machine.os.name == "Debian");
  CHECK(machine.libc.family == "glibc");
  CHECK(machine.libc.minor == 36);
  CHECK(machine.cpu.arch == Arch::x86_64);
  CHECK(machine.cpu.machine == "x86_64");
  CHECK(machine.cpu.logical_cpus == 8);
  CHECK(machine.cpu.capabilities.has(Capability::avx2));
  CHECK(machine.gpus.empty());
  CHECK(machine.drivers.empty());
  CHECK(machine.problems.empty());
  CHECK(host.asked.empty());
}

TEST_CASE("an empty machine is described without complaint") {
  RecordedHost host;
  host.name = {};
  host.cpus = 0;
  host.glibc = "";
  const Machine machine = probe_machine(host);
  CHECK(machine.libc.family.empty());
  CHECK(machine.cpu.logical_cpus == 0);
  CHECK(machine.problems.empty());
}

TEST_CASE("an unknown architecture has unknown capabilities") {
  RecordedHost host;
  host.architecture = Arch::other;
  host.name.machine = "riscv64";
  const Machine machine = probe_machine(host);
  CHECK(machine.cpu.machine == "riscv64");
  CHECK(machine.cpu.capabilities.of(Capability::avx2) == Presence::unknown);
  CHECK(machine.cpu.capabilities.of(Capability::arm_sve) == Presence::unknown);
}

TEST_CASE("the CPU alone is probed when nobody asks for GPUs") {
  RecordedHost host;
  host.plug("0000:65:00.0", 0x10DE, 0x2330, "nvidia");
  const Machine machine = probe_machine(host, {.gpus = false});
  CHECK(machine.gpus.empty());
  CHECK(machine.drivers.empty());
  CHECK(host.asked.empty());
}

TEST_CASE("the vendors that are present are queried together, and GPUs are in bus order") {
  RecordedHost host;
  host.plug("0000:65:00.0", 0x10DE, 0x2330, "nvidia");
  host.plug("0000:03:00.0", 0x8086, 0xE20B, "xe");
  host.plug("0000:c1:00.0", 0x1002, 0x74A1, "amdgpu");
  host.files["/usr/lib64/libze_loader.so.1"] = "";
  host.files["/opt/rocm/lib/librocm_smi64.so.7"] = "";
  host.files["/usr/lib64/libcuda.so.1"] = "";
  const Machine machine = probe_machine(host);
  CHECK(host.asked == std::vector{GpuVendor::nvidia, GpuVendor::amd, GpuVendor::intel});
  REQUIRE(machine.gpus.size() == 3);
  CHECK(machine.gpus[0].vendor == GpuVendor::intel);
  CHECK(machine.gpus[1].vendor == GpuVendor::nvidia);
  CHECK(machine.gpus[2].vendor == GpuVendor::amd);
  // None of the three works here, and none is silent about it.
  CHECK(machine.problems.size() >= 3);
  for (const Gpu& gpu : machine.gpus) CHECK_FALSE(gpu.reason.empty());
}

TEST_CASE("the same machine gives the same facts") {
  RecordedHost host;
  host.give_level(4);
  host.plug("0000:65:00.0", 0x10DE, 0x2330, "nvidia");
  CHECK(probe_machine(host) == probe_machine(host));
}

TEST_CASE("enumerators have their words") {
  CHECK(render_vendor(GpuVendor::amd) == "amd");
  CHECK(render_presence(Presence::blocked) == "blocked");
  CHECK(render_arch(Arch::aarch64) == "aarch64");
  CHECK(find_driver(Machine{}, GpuVendor::nvidia) == nullptr);
}
