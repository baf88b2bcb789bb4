// The verdicts on NVIDIA machines, one test a way to fail.
#include <csignal>
#include <string>

#include <doctest/doctest.h>

#include "tests/detect/nvidia_machine.h"

using namespace axle::detect;
using namespace axle::testing;
using End = DriverAnswer::End;

TEST_CASE("a container without the devices on a GPU host") {
  RecordedHost host = healthy_nvidia();
  host.files.erase("/dev/nvidiactl");
  host.files.erase("/dev/nvidia0");
  host.say(GpuVendor::nvidia, "cuda.missing\tno such file\nnvml.missing\tno such file\n");
  check_nvidia_blocked(host, "no-device-nodes");
  // What the kernel module runs is still known.
  const Machine machine = probe_machine(host);
  CHECK(nvidia_driver_of(machine).api_version == "12.4");
  CHECK(nvidia_driver_of(machine).api_source == "driver-table");
}

TEST_CASE("devices that this user may not open") {
  RecordedHost host = healthy_nvidia();
  host.refused.insert("/dev/nvidia0");
  host.say(GpuVendor::nvidia, "cuda.version\t12040\nnvml.init\t4\n");
  check_nvidia_blocked(host, "no-permission");
}

TEST_CASE("devices but no driver library") {
  RecordedHost host = healthy_nvidia();
  host.say(GpuVendor::nvidia, "cuda.missing\tno such file\nnvml.missing\tno such file\n");
  check_nvidia_blocked(host, "no-user-driver");
}

TEST_CASE("a container with NVML but without libcuda") {
  RecordedHost host = healthy_nvidia();
  host.say(GpuVendor::nvidia,
           "cuda.missing\tno such file\nnvml.init\t0\nnvml.cuda\t12040\n" + h100);
  check_nvidia_blocked(host, "no-user-driver");
  const Machine machine = probe_machine(host);
  CHECK(nvidia_driver_of(machine).api_source == "nvml");
  CHECK(machine.gpus[0].arch == "9.0");
}

TEST_CASE("library and kernel module differ in version") {
  RecordedHost host = healthy_nvidia();
  host.say(GpuVendor::nvidia, "cuda.version\t12080\nnvml.init\t18\ncuda.init\t803\n");
  check_nvidia_blocked(host, "driver-mismatch");
  host.say(GpuVendor::nvidia, "cuda.version\t12080\nnvml.missing\tx\ncuda.init\t803\n");
  check_nvidia_blocked(host, "driver-mismatch");
}

TEST_CASE("the driver is not loaded") {
  RecordedHost host = healthy_nvidia();
  host.say(GpuVendor::nvidia, "cuda.version\t12040\nnvml.init\t9\ncuda.init\t100\n");
  check_nvidia_blocked(host, "driver-not-loaded");
}

TEST_CASE("no kernel driver is bound") {
  RecordedHost host = healthy_nvidia();
  host.files.clear();
  host.links.clear();
  host.plug("0000:65:00.0", 0x10DE, 0x2330, "");
  host.say(GpuVendor::nvidia, "cuda.missing\tx\nnvml.missing\tx\n");
  check_nvidia_blocked(host, "no-kernel-driver");
}

TEST_CASE("nouveau and virtual machines hold the GPU") {
  for (const char* holder : {"nouveau", "vfio-pci"}) {
    CAPTURE(holder);
    RecordedHost host;
    host.plug("0000:65:00.0", 0x10DE, 0x2330, holder);
    host.say(GpuVendor::nvidia, "cuda.missing\tx\nnvml.missing\tx\n");
    check_nvidia_blocked(host, "other-driver");
    const Machine machine = probe_machine(host);
    CHECK(machine.gpus[0].reason.find(holder) != std::string::npos);
  }
}

TEST_CASE("no device though the hardware is there") {
  RecordedHost host = healthy_nvidia();
  host.say(GpuVendor::nvidia, "cuda.version\t12040\nnvml.missing\tx\ncuda.init\t100\n");
  check_nvidia_blocked(host, "no-device");
  host.say(GpuVendor::nvidia, "cuda.version\t12040\nnvml.missing\tx\ncuda.init\t101\n");
  check_nvidia_blocked(host, "no-device");
  host.say(GpuVendor::nvidia, "cuda.version\t12040\nnvml.init\t0\nnvml.count\t0\n");
  check_nvidia_blocked(host, "no-device");
}

TEST_CASE("a system that waits for its fabric manager is usable, and that is reported") {
  RecordedHost host = healthy_nvidia();
  host.say(GpuVendor::nvidia, "cuda.version\t12040\nnvml.init\t0\n" + h100 + "cuda.init\t802\n");
  const Machine machine = probe_machine(host);
  CHECK(nvidia_driver_of(machine).usable == Presence::present);
  CHECK(machine.gpus[0].usable == Presence::present);
  REQUIRE(machine.problems.size() == 1);
  CHECK(machine.problems[0].code == "nvidia.not-ready");
}

TEST_CASE("a GPU that fell off the bus") {
  RecordedHost host = healthy_nvidia();
  host.plug("0000:66:00.0", 0x10DE, 0x2330, "nvidia");
  host.say(GpuVendor::nvidia,
           "cuda.version\t12040\nnvml.init\t0\nnvml.count\t2\nnvml.device_error\t1\t15\n" + h100);
  const Machine machine = probe_machine(host);
  CHECK(nvidia_driver_of(machine).usable == Presence::present);
  REQUIRE(machine.gpus.size() == 2);
  CHECK(machine.gpus[0].usable == Presence::present);
  CHECK(machine.gpus[1].reason_code == "gpu-lost");
  REQUIRE(machine.problems.size() == 1);
  CHECK(machine.problems[0].code == "nvidia.gpu-lost");
}

TEST_CASE("every GPU fell off the bus") {
  RecordedHost host = healthy_nvidia();
  host.say(GpuVendor::nvidia,
           "cuda.version\t12040\nnvml.init\t0\nnvml.count\t1\nnvml.device_error\t0\t15\n");
  check_nvidia_blocked(host, "gpu-lost");
}

TEST_CASE("a driver that hangs leaves the facts of the files") {
  RecordedHost host = healthy_nvidia();
  host.say(GpuVendor::nvidia, End::timed_out, "cuda.version\t12040\nstep\tnvmlInit\n");
  check_nvidia_blocked(host, "driver-hangs");
  const Machine machine = probe_machine(host);
  CHECK(nvidia_driver_of(machine).api_version == "12.4");
  CHECK(machine.problems[0].message.find("nvmlInit") != std::string::npos);
}

TEST_CASE("a driver that crashes leaves what it said before") {
  RecordedHost host = healthy_nvidia();
  host.say(GpuVendor::nvidia, End::crashed,
           "cuda.version\t12040\nnvml.init\t0\n" + h100 + "step\tcuInit\n", SIGSEGV);
  check_nvidia_blocked(host, "driver-crashed");
  const Machine machine = probe_machine(host);
  CHECK(machine.gpus[0].arch == "9.0");
  CHECK(machine.problems[0].message.find("SIGSEGV") != std::string::npos);
}

TEST_CASE("a child that could not be started leaves the GPU blocked") {
  RecordedHost host = healthy_nvidia();
  host.say(GpuVendor::nvidia, End::not_started, "");
  check_nvidia_blocked(host, "not-started");
}

TEST_CASE("an answer that a recording lacks leaves the GPU unknown, and says so") {
  RecordedHost host = healthy_nvidia();
  host.answers.clear();
  const Machine machine = probe_machine(host);
  CHECK(machine.gpus.at(0).usable == Presence::unknown);
  CHECK(machine.gpus[0].reason_code == "not-recorded");
  CHECK(machine.drivers.at(0).usable == Presence::unknown);
  REQUIRE(machine.problems.size() == 1);
  CHECK(machine.problems[0].code == "nvidia.not-recorded");
  CHECK(machine.problems[0].hint.find("--profile") != std::string::npos);
  // What the files say goes first: nobody could have been asked.
  std::erase_if(host.files, [](const auto& file) { return file.first.starts_with("/dev/nvidia"); });
  std::erase_if(host.nodes, [](const auto& node) { return node.first.starts_with("/dev/nvidia"); });
  check_nvidia_blocked(host, "no-device-nodes");
}

TEST_CASE("a vendor whose facts are stated is not asked, the others are") {
  RecordedHost host = healthy_nvidia();
  const Machine machine = probe_machine(host, {.stated = {GpuVendor::nvidia}});
  CHECK(machine.gpus.at(0).reason_code == "not-asked");
  CHECK(machine.problems.empty());
  const Machine other = probe_machine(host, {.stated = {GpuVendor::amd, GpuVendor::intel}});
  CHECK(other.gpus.at(0).usable == Presence::present);
}

TEST_CASE("the toolkit's stub is not a driver") {
  RecordedHost host = healthy_nvidia();
  host.say(GpuVendor::nvidia, "cuda.version_error\t34\nnvml.missing\tx\n");
  check_nvidia_blocked(host, "stub-library");
}

TEST_CASE("libraries without their entry points") {
  RecordedHost host = healthy_nvidia();
  host.say(GpuVendor::nvidia,
           "cuda.version\t12040\nnvml.symbol\tnvmlInit_v2\ncuda.symbol\tcuInit\n");
  check_nvidia_blocked(host, "missing-symbol");
}

TEST_CASE("an NVML that is too old does not matter when CUDA lists the devices") {
  RecordedHost host = healthy_nvidia();
  host.say(GpuVendor::nvidia,
           "cuda.version\t12040\nnvml.symbol\tnvmlInit_v2\ncuda.init\t0\n"
           "cuda.device\t0\t8.7\t0000:65:00.0\t1024\t1\tOrin\n");
  const Machine machine = probe_machine(host);
  CHECK(machine.gpus.at(0).usable == Presence::present);
  CHECK(machine.gpus.at(0).arch == "8.7");
  CHECK(machine.gpus.at(0).integrated);
}

TEST_CASE("unknown codes are reported with their number") {
  RecordedHost host = healthy_nvidia();
  host.say(GpuVendor::nvidia, "cuda.version\t12040\nnvml.init\t77\n");
  check_nvidia_blocked(host, "driver-error");
  const Machine machine = probe_machine(host);
  CHECK(machine.problems[0].message.find("77") != std::string::npos);
}

TEST_CASE("left-over libraries on a machine without the hardware are no problem") {
  RecordedHost host;
  host.files["/usr/lib/x86_64-linux-gnu/libcuda.so.1"] = "";
  for (const char* said : {"cuda.version\t12040\nnvml.init\t9\ncuda.init\t100\n",
                           "cuda.version_error\t34\n", "cuda.missing\tx\nnvml.missing\tx\n"}) {
    host.say(GpuVendor::nvidia, said);
    const Machine machine = probe_machine(host);
    CHECK(nvidia_driver_of(machine).usable == Presence::absent);
    CHECK(machine.gpus.empty());
    CHECK(machine.problems.empty());
  }
}

TEST_CASE("a kernel module alone, as every container on a GPU host sees it, is no GPU") {
  RecordedHost host;
  host.files["/sys/module/nvidia/version"] = "550.54.14\n";
  const Machine machine = probe_machine(host);
  CHECK(machine.gpus.empty());
  CHECK(machine.drivers.empty());
  CHECK(host.asked.empty());
}

TEST_CASE("GPUs that wait for the fabric manager are reported although NVML accepts them") {
  RecordedHost host = healthy_nvidia();
  host.say(GpuVendor::nvidia, "cuda.version\t12040\nnvml.init\t0\nnvml.count\t1\n" + h100 +
                                  "nvml.fabric\t0\t2\ncuda.init\t802\n");
  const Machine machine = probe_machine(host);
  CHECK(machine.gpus.at(0).usable == Presence::present);
  REQUIRE(machine.problems.size() == 1);
  CHECK(machine.problems[0].code == "nvidia.not-ready");
}

TEST_CASE("one node of those that a GPU needs is missing, and named") {
  for (const std::string node : {"/dev/nvidia0", "/dev/nvidiactl"}) {
    CAPTURE(node);
    RecordedHost host = healthy_nvidia();
    host.files.erase(node);
    host.say(GpuVendor::nvidia, "cuda.version\t12040\nnvml.init\t9\ncuda.init\t100\n");
    check_nvidia_blocked(host, "no-device-nodes");
    const Problem problem = probe_machine(host).problems.at(0);
    CHECK(problem.message.find("no " + node + " here") != std::string::npos);
    CHECK(problem.hint.find("--gpus all") != std::string::npos);
  }
}

TEST_CASE("the node that this user may not open is named") {
  for (const std::string node : {"/dev/nvidia0", "/dev/nvidiactl"}) {
    CAPTURE(node);
    RecordedHost host = healthy_nvidia();
    host.refused.insert(node);
    host.say(GpuVendor::nvidia, "cuda.version\t12040\nnvml.init\t4\n");
    check_nvidia_blocked(host, "no-permission");
    CHECK(probe_machine(host).problems.at(0).message.starts_with(node + ' '));
  }
}

TEST_CASE("a driver that is not loaded, by the codes of CUDA alone") {
  RecordedHost host = healthy_nvidia();
  host.say(GpuVendor::nvidia, "cuda.version\t12040\nnvml.missing\tx\ncuda.init\t999\n");
  check_nvidia_blocked(host, "driver-error");
  host.say(GpuVendor::nvidia, "cuda.version\t12040\nnvml.missing\tx\ncuda.init\t304\n");
  check_nvidia_blocked(host, "no-permission");
}

TEST_CASE("a GPU in MIG mode without an instance is not usable") {
  RecordedHost host = healthy_nvidia();
  const std::string before = "cuda.version\t12040\nnvml.init\t0\nnvml.count\t2\n";
  const std::string first =
      "nvml.device\t0\t9.0\t00000000:65:00.0\t1\tGPU-a\tNVIDIA H100\t10de:2330\t1\t";
  const std::string second =
      "nvml.device\t1\t9.0\t00000000:66:00.0\t1\tGPU-b\tNVIDIA H100\t10de:2330\t1\t7\n";
  host.say(GpuVendor::nvidia, before + first + "0\n" + second);
  const Machine machine = probe_machine(host);
  CHECK(machine.gpus.at(0).usable == Presence::blocked);
  CHECK(machine.gpus.at(0).reason_code == "no-mig-instance");
  CHECK(machine.gpus.at(1).usable == Presence::present);
  REQUIRE(machine.problems.size() == 1);
  CHECK(machine.problems[0].code == "nvidia.no-mig-instance");
  // CUDA has the last word.
  host.say(GpuVendor::nvidia, before + first + "0\n" + second +
                                  "cuda.init\t0\ncuda.device\t0\t9.0\t0000:65:00.0\t2\t0\tH100\n");
  CHECK(probe_machine(host).problems.empty());
  host.say(GpuVendor::nvidia,
           "cuda.version\t12040\nnvml.init\t0\nnvml.count\t1\n" + first + "0\ncuda.init\t100\n");
  check_nvidia_blocked(host, "no-mig-instance");
  // An NVML that cannot tell says nothing against the GPU.
  host.say(GpuVendor::nvidia, before + first + "\n" + second);
  CHECK(probe_machine(host).problems.empty());
}
