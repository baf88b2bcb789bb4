// The verdicts on NVIDIA machines, one test a way to fail.
#include <csignal>
#include <string>

#include <doctest/doctest.h>

#include "detect/probe.h"
#include "tests/support/recorded_host.h"

using namespace axle::detect;
using axle::testing::RecordedHost;
using End = DriverAnswer::End;

namespace {

const std::string h100 =
    "nvml.device\t0\t9.0\t00000000:65:00.0\t85899345920\tGPU-aaaa\tNVIDIA H100\n";

/// A machine on which everything is right.
RecordedHost healthy() {
  RecordedHost host;
  host.plug("0000:65:00.0", 0x10DE, 0x2330, "nvidia");
  host.files["/sys/module/nvidia/version"] = "550.54.14\n";
  for (const char* node : {"/dev/nvidiactl", "/dev/nvidia0", "/dev/nvidia-uvm"})
    host.add_node(node);
  host.say(
      GpuVendor::nvidia,
      "cuda.file\t/usr/lib/x86_64-linux-gnu/libcuda.so.550.54.14\ncuda.version\t12040\n"
      "step\tnvmlInit\nnvml.init\t0\nnvml.driver\t550.54.14\nnvml.cuda\t12040\nnvml.count\t1\n" +
          h100);
  return host;
}

const Driver& driver_of(const Machine& machine) {
  const Driver* const driver = find_driver(machine, GpuVendor::nvidia);
  REQUIRE(driver != nullptr);
  return *driver;
}

/// The one GPU is blocked for that reason, the driver too, and the problem is told.
void check_blocked(RecordedHost& host, const std::string& code) {
  const Machine machine = probe_machine(host);
  CAPTURE(code);
  CHECK(driver_of(machine).usable == Presence::blocked);
  CHECK(driver_of(machine).reason_code == code);
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

}  // namespace

TEST_CASE("a healthy NVIDIA machine") {
  RecordedHost host = healthy();
  const Machine machine = probe_machine(host);
  const Driver& driver = driver_of(machine);
  CHECK(driver.usable == Presence::present);
  CHECK(driver.kernel_version == "550.54.14");
  CHECK(driver.library_version == "550.54.14");
  CHECK(driver.api_version == "12.4");
  CHECK(driver.api_source == "libcuda");
  REQUIRE(machine.gpus.size() == 1);
  const Gpu& gpu = machine.gpus[0];
  CHECK(gpu.usable == Presence::present);
  CHECK(gpu.arch == "9.0");
  CHECK(gpu.name == "NVIDIA H100");
  CHECK(gpu.pci_address == "0000:65:00.0");
  CHECK(gpu.memory_bytes == 85899345920U);
  CHECK(gpu.reason_code.empty());
  CHECK_FALSE(gpu.masked);
  CHECK(machine.problems.empty());
}

TEST_CASE("a container without the devices on a GPU host") {
  RecordedHost host = healthy();
  host.files.erase("/dev/nvidiactl");
  host.files.erase("/dev/nvidia0");
  host.say(GpuVendor::nvidia, "cuda.missing\tno such file\nnvml.missing\tno such file\n");
  check_blocked(host, "no-device-nodes");
  // What the kernel module runs is still known.
  const Machine machine = probe_machine(host);
  CHECK(driver_of(machine).api_version == "12.4");
  CHECK(driver_of(machine).api_source == "driver-table");
}

TEST_CASE("devices that this user may not open") {
  RecordedHost host = healthy();
  host.refused.insert("/dev/nvidia0");
  host.say(GpuVendor::nvidia, "cuda.version\t12040\nnvml.init\t4\n");
  check_blocked(host, "no-permission");
}

TEST_CASE("devices but no driver library") {
  RecordedHost host = healthy();
  host.say(GpuVendor::nvidia, "cuda.missing\tno such file\nnvml.missing\tno such file\n");
  check_blocked(host, "no-user-driver");
}

TEST_CASE("a container with NVML but without libcuda") {
  RecordedHost host = healthy();
  host.say(GpuVendor::nvidia,
           "cuda.missing\tno such file\nnvml.init\t0\nnvml.cuda\t12040\n" + h100);
  check_blocked(host, "no-user-driver");
  const Machine machine = probe_machine(host);
  CHECK(driver_of(machine).api_source == "nvml");
  CHECK(machine.gpus[0].arch == "9.0");
}

TEST_CASE("library and kernel module differ in version") {
  RecordedHost host = healthy();
  host.say(GpuVendor::nvidia, "cuda.version\t12080\nnvml.init\t18\ncuda.init\t803\n");
  check_blocked(host, "driver-mismatch");
  host.say(GpuVendor::nvidia, "cuda.version\t12080\nnvml.missing\tx\ncuda.init\t803\n");
  check_blocked(host, "driver-mismatch");
}

TEST_CASE("the driver is not loaded") {
  RecordedHost host = healthy();
  host.say(GpuVendor::nvidia, "cuda.version\t12040\nnvml.init\t9\ncuda.init\t100\n");
  check_blocked(host, "driver-not-loaded");
}

TEST_CASE("no kernel driver is bound") {
  RecordedHost host = healthy();
  host.files.clear();
  host.links.clear();
  host.plug("0000:65:00.0", 0x10DE, 0x2330, "");
  host.say(GpuVendor::nvidia, "cuda.missing\tx\nnvml.missing\tx\n");
  check_blocked(host, "no-kernel-driver");
}

TEST_CASE("nouveau and virtual machines hold the GPU") {
  for (const char* holder : {"nouveau", "vfio-pci"}) {
    CAPTURE(holder);
    RecordedHost host;
    host.plug("0000:65:00.0", 0x10DE, 0x2330, holder);
    host.say(GpuVendor::nvidia, "cuda.missing\tx\nnvml.missing\tx\n");
    check_blocked(host, "other-driver");
    const Machine machine = probe_machine(host);
    CHECK(machine.gpus[0].reason.find(holder) != std::string::npos);
  }
}

TEST_CASE("no device though the hardware is there") {
  RecordedHost host = healthy();
  host.say(GpuVendor::nvidia, "cuda.version\t12040\nnvml.missing\tx\ncuda.init\t100\n");
  check_blocked(host, "no-device");
  host.say(GpuVendor::nvidia, "cuda.version\t12040\nnvml.missing\tx\ncuda.init\t101\n");
  check_blocked(host, "no-device");
  host.say(GpuVendor::nvidia, "cuda.version\t12040\nnvml.init\t0\nnvml.count\t0\n");
  check_blocked(host, "no-device");
}

TEST_CASE("a compat library that the GPU does not support") {
  RecordedHost host = healthy();
  host.say(GpuVendor::nvidia,
           "cuda.file\t/usr/local/cuda/compat/libcuda.so.575.57.08\ncuda.version\t12090\n"
           "nvml.init\t0\nnvml.cuda\t12090\nnvml.count\t1\n" +
               h100 + "cuda.init\t804\n");
  check_blocked(host, "compat-not-supported");
  // CUDA without the compat library is what the kernel module brings.
  const Machine machine = probe_machine(host);
  CHECK(driver_of(machine).api_version == "12.4");
  CHECK(driver_of(machine).api_source == "driver-table");
}

TEST_CASE("a compat library that works is told") {
  RecordedHost host = healthy();
  host.say(GpuVendor::nvidia,
           "cuda.file\t/usr/local/cuda/compat/libcuda.so.575.57.08\ncuda.version\t12090\n"
           "nvml.init\t0\nnvml.count\t1\n" +
               h100);
  const Machine machine = probe_machine(host);
  CHECK(driver_of(machine).api_version == "12.9");
  CHECK(driver_of(machine).api_source == "libcuda-compat");
}

TEST_CASE("a system that waits for its fabric manager is usable, and told") {
  RecordedHost host = healthy();
  host.say(GpuVendor::nvidia, "cuda.version\t12040\nnvml.init\t0\n" + h100 + "cuda.init\t802\n");
  const Machine machine = probe_machine(host);
  CHECK(driver_of(machine).usable == Presence::present);
  CHECK(machine.gpus[0].usable == Presence::present);
  REQUIRE(machine.problems.size() == 1);
  CHECK(machine.problems[0].code == "nvidia.not-ready");
}

TEST_CASE("a GPU that fell off the bus") {
  RecordedHost host = healthy();
  host.plug("0000:66:00.0", 0x10DE, 0x2330, "nvidia");
  host.say(GpuVendor::nvidia,
           "cuda.version\t12040\nnvml.init\t0\nnvml.count\t2\nnvml.device_error\t1\t15\n" + h100);
  const Machine machine = probe_machine(host);
  CHECK(driver_of(machine).usable == Presence::present);
  REQUIRE(machine.gpus.size() == 2);
  CHECK(machine.gpus[0].usable == Presence::present);
  CHECK(machine.gpus[1].reason_code == "gpu-lost");
  REQUIRE(machine.problems.size() == 1);
  CHECK(machine.problems[0].code == "nvidia.gpu-lost");
}

TEST_CASE("every GPU fell off the bus") {
  RecordedHost host = healthy();
  host.say(GpuVendor::nvidia,
           "cuda.version\t12040\nnvml.init\t0\nnvml.count\t1\nnvml.device_error\t0\t15\n");
  check_blocked(host, "gpu-lost");
}

TEST_CASE("a driver that hangs leaves the facts of the files") {
  RecordedHost host = healthy();
  host.say(GpuVendor::nvidia, End::timed_out, "cuda.version\t12040\nstep\tnvmlInit\n");
  check_blocked(host, "driver-hangs");
  const Machine machine = probe_machine(host);
  CHECK(driver_of(machine).api_version == "12.4");
  CHECK(machine.problems[0].message.find("nvmlInit") != std::string::npos);
}

TEST_CASE("a driver that crashes leaves what it said before") {
  RecordedHost host = healthy();
  host.say(GpuVendor::nvidia, End::crashed,
           "cuda.version\t12040\nnvml.init\t0\n" + h100 + "step\tcuInit\n", SIGSEGV);
  check_blocked(host, "driver-crashed");
  const Machine machine = probe_machine(host);
  CHECK(machine.gpus[0].arch == "9.0");
  CHECK(machine.problems[0].message.find("SIGSEGV") != std::string::npos);
}

TEST_CASE("a child that could not be started leaves the GPU blocked") {
  RecordedHost host = healthy();
  host.say(GpuVendor::nvidia, End::not_started, "");
  check_blocked(host, "not-started");
}

TEST_CASE("an answer that a recording lacks leaves the GPU unknown, and says so") {
  RecordedHost host = healthy();
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
  check_blocked(host, "no-device-nodes");
}

TEST_CASE("the toolkit's stub is no driver") {
  RecordedHost host = healthy();
  host.say(GpuVendor::nvidia, "cuda.version_error\t34\nnvml.missing\tx\n");
  check_blocked(host, "stub-library");
}

TEST_CASE("libraries without their entry points") {
  RecordedHost host = healthy();
  host.say(GpuVendor::nvidia,
           "cuda.version\t12040\nnvml.symbol\tnvmlInit_v2\ncuda.symbol\tcuInit\n");
  check_blocked(host, "missing-symbol");
}

TEST_CASE("an NVML that is too old does not matter when CUDA lists the devices") {
  RecordedHost host = healthy();
  host.say(GpuVendor::nvidia,
           "cuda.version\t12040\nnvml.symbol\tnvmlInit_v2\ncuda.init\t0\n"
           "cuda.device\t0\t8.7\t0000:65:00.0\t1024\t1\tOrin\n");
  const Machine machine = probe_machine(host);
  CHECK(machine.gpus.at(0).usable == Presence::present);
  CHECK(machine.gpus.at(0).arch == "8.7");
  CHECK(machine.gpus.at(0).integrated);
}

TEST_CASE("codes that no table knows are told by their number") {
  RecordedHost host = healthy();
  host.say(GpuVendor::nvidia, "cuda.version\t12040\nnvml.init\t77\n");
  check_blocked(host, "driver-error");
  const Machine machine = probe_machine(host);
  CHECK(machine.problems[0].message.find("77") != std::string::npos);
}

TEST_CASE("WSL has neither bus nor kernel module") {
  RecordedHost host;
  host.add_node("/dev/dxg");
  host.files["/usr/lib/wsl/lib/libcuda.so.1"] = "";
  host.say(GpuVendor::nvidia,
           "cuda.version\t12080\nnvml.init\t0\nnvml.driver\t570.26\nnvml.count\t1\n" + h100);
  const Machine machine = probe_machine(host);
  CHECK(machine.gpus.at(0).usable == Presence::present);
  CHECK(driver_of(machine).api_version == "12.8");
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
  CHECK(driver_of(machine).library_version.empty());
}

TEST_CASE("a GPU that the container was not given is listed but no problem") {
  RecordedHost host = healthy();
  host.plug("0000:66:00.0", 0x10DE, 0x2330, "nvidia");
  const Machine machine = probe_machine(host);
  REQUIRE(machine.gpus.size() == 2);
  CHECK(machine.gpus[1].usable == Presence::blocked);
  CHECK(machine.gpus[1].reason_code == "not-listed");
  CHECK(machine.problems.empty());
}

TEST_CASE("masks hide devices in the order that CUDA counts them") {
  RecordedHost host = healthy();
  const std::string t4 = "nvml.device\t0\t7.5\t00000000:03:00.0\t1\tGPU-bbbb\tT4\n";
  const std::string second = "nvml.device\t1\t9.0\t00000000:65:00.0\t2\tGPU-aaaa\tH100\n";
  const std::string said = "cuda.version\t12040\nnvml.init\t0\nnvml.count\t2\n" + t4 + second;
  host.variables["CUDA_VISIBLE_DEVICES"] = "0";
  host.say(GpuVendor::nvidia, said);
  Machine machine = probe_machine(host);
  REQUIRE(machine.gpus.size() == 2);
  CHECK_FALSE(machine.gpus[0].masked);
  CHECK(machine.gpus[1].masked);
  // CUDA counts the fastest first.
  host.say(GpuVendor::nvidia, said +
                                  "cuda.init\t0\ncuda.device\t0\t9.0\t0000:65:00.0\t2\t0\tH100\n"
                                  "cuda.device\t1\t7.5\t0000:03:00.0\t1\t0\tT4\n");
  machine = probe_machine(host);
  CHECK(machine.gpus[0].masked);
  CHECK_FALSE(machine.gpus[1].masked);
  CHECK(driver_of(machine).usable == Presence::present);
  host.variables["CUDA_VISIBLE_DEVICES"] = "GPU-bb";
  machine = probe_machine(host);
  CHECK_FALSE(machine.gpus[0].masked);
  CHECK(machine.gpus[1].masked);
}

TEST_CASE("without the libraries a GPU is unknown, and nothing is asked") {
  RecordedHost host = healthy();
  const Machine machine = probe_machine(host, {.driver_libraries = false});
  CHECK(host.asked.empty());
  CHECK(machine.gpus.at(0).usable == Presence::unknown);
  CHECK(machine.gpus.at(0).reason_code == "not-asked");
  CHECK(driver_of(machine).api_version == "12.4");
  CHECK(machine.problems.empty());
}

TEST_CASE("left-over libraries on a machine without the hardware are no problem") {
  RecordedHost host;
  host.files["/usr/lib/x86_64-linux-gnu/libcuda.so.1"] = "";
  for (const char* said : {"cuda.version\t12040\nnvml.init\t9\ncuda.init\t100\n",
                           "cuda.version_error\t34\n", "cuda.missing\tx\nnvml.missing\tx\n"}) {
    host.say(GpuVendor::nvidia, said);
    const Machine machine = probe_machine(host);
    CHECK(driver_of(machine).usable == Presence::absent);
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

TEST_CASE("names of GPUs are known from the kernel driver when the libraries fail") {
  RecordedHost host = healthy();
  host.files["/proc/driver/nvidia/gpus/0000:65:00.0/information"] = "Model: \t NVIDIA H100 PCIe\n";
  host.say(GpuVendor::nvidia, "cuda.missing\tx\nnvml.missing\tx\n");
  CHECK(probe_machine(host).gpus.at(0).name == "NVIDIA H100 PCIe");
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
  CHECK(driver_of(machine).reason_code == "no-device-nodes");
  REQUIRE(machine.problems.size() == 1);
  CHECK(machine.problems[0].message.find("/dev/dxg") != std::string::npos);
}

TEST_CASE("a container on a Jetson without its device nodes") {
  RecordedHost host;
  host.architecture = Arch::aarch64;
  host.files["/sys/devices/soc0/family"] = "Tegra\n";
  const Machine machine = probe_machine(host);
  CHECK(host.asked.empty());
  CHECK(driver_of(machine).reason_code == "no-device-nodes");
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
  CHECK(driver_of(machine).kernel_version.empty());
  CHECK(driver_of(machine).library_version == "550.54.14");
  CHECK(machine.problems.empty());
}

TEST_CASE("a GPU in MIG mode has its parent's capability, and says so") {
  RecordedHost host = healthy();
  host.say(GpuVendor::nvidia,
           "cuda.version\t12040\nnvml.init\t0\nnvml.count\t1\n"
           "nvml.device\t0\t9.0\t00000000:65:00.0\t1\tGPU-a\tNVIDIA H100\t10de:2330\t1\n");
  const Machine machine = probe_machine(host);
  CHECK(machine.gpus.at(0).mig);
  CHECK(machine.gpus.at(0).arch == "9.0");
  CHECK(machine.gpus.at(0).usable == Presence::present);
}

TEST_CASE("every fact of a GPU names its source") {
  RecordedHost host = healthy();
  const Machine machine = probe_machine(host);
  const Gpu& gpu = machine.gpus.at(0);
  CHECK(gpu.pci_id == "10de:2330");
  CHECK(gpu.kernel_driver == "nvidia");
  CHECK(gpu.sources == Sources{{"name", "nvml"},
                               {"pci_address", "sysfs"},
                               {"pci_id", "sysfs"},
                               {"kernel_driver", "sysfs"},
                               {"arch", "nvml"},
                               {"memory_bytes", "nvml"}});
  CHECK(driver_of(machine).sources == Sources{{"kernel_version", "sysfs"},
                                              {"library_version", "nvml"},
                                              {"api_version", "libcuda"}});
}

TEST_CASE("a GPU that no driver names is named by its id") {
  RecordedHost host;
  host.plug("0000:65:00.0", 0x10DE, 0x2330, "nouveau");
  const Machine machine = probe_machine(host);
  CHECK(host.asked.empty());
  CHECK(machine.gpus.at(0).name == "Hopper (GH100)");
  CHECK(machine.gpus.at(0).sources.at("name") == "pci-id-table");
  CHECK(machine.gpus.at(0).arch.empty());
  CHECK(machine.gpus.at(0).kernel_driver == "nouveau");
  CHECK(machine.gpus.at(0).reason_code == "other-driver");
}

TEST_CASE("devices that are all masked are reported apart from the driver") {
  RecordedHost host = healthy();
  host.variables["CUDA_VISIBLE_DEVICES"] = "";
  const Machine machine = probe_machine(host);
  CHECK(driver_of(machine).usable == Presence::present);
  CHECK(machine.gpus.at(0).usable == Presence::present);
  CHECK(machine.gpus.at(0).masked);
  REQUIRE(machine.problems.size() == 1);
  CHECK(machine.problems[0].code == "nvidia.all-masked");
  CHECK(machine.problems[0].message.find("CUDA_VISIBLE_DEVICES") != std::string::npos);
}

namespace {

const std::string compat_lines =
    "cuda.file\t/usr/local/cuda/compat/libcuda.so.575.57.08\ncuda.compat\t12.9\t535,550,570\n"
    "cuda.version\t12090\nnvml.init\t0\nnvml.driver\t550.54.14\nnvml.cuda\t12090\nnvml.count\t1\n" +
    h100;

}  // namespace

TEST_CASE("a compat library that is refused gives way to the driver's own") {
  RecordedHost host = healthy();
  host.say(GpuVendor::nvidia,
           compat_lines +
               "cuda.init\t804\ncuda.retry\t/usr/lib/x86_64-linux-gnu/libcuda.so.550.54.14\n"
               "cuda.file\t/usr/lib/x86_64-linux-gnu/libcuda.so.550.54.14\ncuda.version\t12040\n"
               "cuda.init\t0\ncuda.device\t0\t9.0\t0000:65:00.0\t1\t0\tH100\n");
  const Machine machine = probe_machine(host);
  const Driver& driver = driver_of(machine);
  CHECK(driver.usable == Presence::present);
  CHECK(driver.api_version == "12.4");
  CHECK(driver.api_source == "libcuda");
  CHECK(driver.compat_version == "12.9");
  CHECK(driver.compat_library == "/usr/local/cuda/compat/libcuda.so.575.57.08");
  CHECK(driver.sources.at("compat_version") == "elf-note");
  CHECK(machine.gpus.at(0).usable == Presence::present);
  REQUIRE(machine.problems.size() == 1);
  CHECK(machine.problems[0].code == "nvidia.compat-not-supported");
}

TEST_CASE("a compat library that is not made for the driver's branch") {
  RecordedHost host = healthy();
  host.files["/sys/module/nvidia/version"] = "545.23.06\n";
  host.say(GpuVendor::nvidia, compat_lines + "cuda.init\t803\n");
  check_blocked(host, "compat-branch");
  host.files["/sys/module/nvidia/version"] = "550.54.14\n";
  check_blocked(host, "compat-failed");
}

TEST_CASE("GPUs that wait for the fabric manager are told though NVML is content") {
  RecordedHost host = healthy();
  host.say(GpuVendor::nvidia, "cuda.version\t12040\nnvml.init\t0\nnvml.count\t1\n" + h100 +
                                  "nvml.fabric\t0\t2\ncuda.init\t802\n");
  const Machine machine = probe_machine(host);
  CHECK(machine.gpus.at(0).usable == Presence::present);
  REQUIRE(machine.problems.size() == 1);
  CHECK(machine.problems[0].code == "nvidia.not-ready");
}
