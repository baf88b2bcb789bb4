// NVIDIA where there is no bus or no kernel module of the usual kind: WSL, Jetson, gVisor.
#include <string>

#include <doctest/doctest.h>

#include "tests/detect/nvidia_machine.h"

using namespace axle::detect;
using namespace axle::testing;

TEST_CASE("WSL has neither bus nor kernel module") {
  RecordedHost host;
  host.add_node("/dev/dxg");
  host.files["/usr/lib/wsl/lib/libcuda.so.1"] = "";
  host.say(GpuVendor::nvidia,
           "cuda.version\t12080\nnvml.init\t0\nnvml.driver\t570.26\nnvml.count\t1\n" + h100);
  const Machine machine = probe_machine(host);
  CHECK(machine.gpus.at(0).usable == Presence::present);
  CHECK(nvidia_driver_of(machine).api_version == "12.8");
  CHECK(machine.problems.empty());
}

TEST_CASE("Jetson is known without a bus and asked through CUDA") {
  RecordedHost host;
  host.architecture = Arch::aarch64;
  host.files["/etc/nv_tegra_release"] = "# R36 (release)";
  host.files["/usr/lib/aarch64-linux-gnu/nvidia/libcuda.so.1"] = "";
  host.say(GpuVendor::nvidia,
           "cuda.file\t/usr/lib/aarch64-linux-gnu/nvidia/libcuda.so.1.1\ncuda.version\t12060\n"
           "nvml.missing\tx\ncuda.init\t0\ncuda.device\t0\t8.7\t\t1024\t1\tOrin\n");
  const Machine machine = probe_machine(host);
  CHECK(machine.gpus.at(0).usable == Presence::present);
  CHECK(machine.gpus.at(0).pci_address.empty());
  CHECK(nvidia_driver_of(machine).library_version.empty());
}

TEST_CASE("WSL without NVIDIA's libraries is another vendor's GPU, and no problem") {
  RecordedHost host;
  host.add_node("/dev/dxg");
  host.files["/usr/lib/wsl/lib/libdxcore.so"] = "";
  host.say(GpuVendor::nvidia, "cuda.missing\tx\nnvml.missing\tx\n");
  const Machine machine = probe_machine(host);
  CHECK(machine.gpus.empty());
  CHECK(machine.drivers.empty());
  CHECK(machine.problems.empty());
}

TEST_CASE("a container under WSL that was not given the device") {
  RecordedHost host;
  host.files["/usr/lib/wsl/lib/libdxcore.so"] = "";
  host.files["/usr/lib/wsl/lib/libcuda.so.1"] = "";
  host.say(GpuVendor::nvidia, "cuda.version\t12080\nnvml.init\t9\ncuda.init\t100\n");
  const Machine machine = probe_machine(host);
  CHECK(nvidia_driver_of(machine).reason_code == "no-device-nodes");
  REQUIRE(machine.problems.size() == 1);
  CHECK(machine.problems[0].message.find("/dev/dxg") != std::string::npos);
}

TEST_CASE("a container on a Jetson without its device nodes") {
  RecordedHost host;
  host.architecture = Arch::aarch64;
  host.files["/sys/devices/soc0/family"] = "Tegra\n";
  const Machine machine = probe_machine(host);
  CHECK(host.asked.empty());
  CHECK(nvidia_driver_of(machine).reason_code == "no-device-nodes");
  REQUIRE(machine.problems.size() == 1);
  CHECK(machine.problems[0].hint.find("--runtime nvidia") != std::string::npos);
}

TEST_CASE("a Jetson whose NVML knows the name only is told by CUDA") {
  RecordedHost host;
  host.architecture = Arch::aarch64;
  host.files["/etc/nv_tegra_release"] = "# R36 (release)";
  host.add_node("/dev/nvhost-gpu");
  host.say(GpuVendor::nvidia,
           "cuda.version\t12060\nnvml.init\t0\nnvml.count\t1\n"
           "nvml.device\t0\t\t\t0\t\tOrin (nvgpu)\t\t0\n"
           "cuda.init\t0\ncuda.device\t0\t8.7\t\t1024\t1\tOrin\n");
  const Machine machine = probe_machine(host);
  REQUIRE(machine.gpus.size() == 1);
  CHECK(machine.gpus[0].arch == "8.7");
  CHECK(machine.gpus[0].integrated);
  CHECK(machine.gpus[0].usable == Presence::present);
  CHECK(machine.gpus[0].sources.at("arch") == "libcuda");
  CHECK(machine.problems.empty());
}

TEST_CASE("gVisor shows nodes and libraries, but neither bus nor kernel module") {
  RecordedHost host;
  for (const char* node : {"/dev/nvidiactl", "/dev/nvidia0", "/dev/nvidia-uvm"})
    host.add_node(node);
  host.variables["LD_LIBRARY_PATH"] = "/usr/local/nvidia/lib64";
  host.files["/usr/local/nvidia/lib64/libcuda.so.1"] = "";
  host.say(GpuVendor::nvidia,
           "cuda.version\t12040\nnvml.init\t0\nnvml.driver\t550.54.14\nnvml.count\t1\n" + h100);
  const Machine machine = probe_machine(host);
  REQUIRE(machine.gpus.size() == 1);
  CHECK(machine.gpus[0].usable == Presence::present);
  CHECK(nvidia_driver_of(machine).kernel_version.empty());
  CHECK(nvidia_driver_of(machine).library_version == "550.54.14");
  CHECK(machine.problems.empty());
}
