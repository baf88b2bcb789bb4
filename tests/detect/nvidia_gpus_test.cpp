// What is told of NVIDIA GPUs, and where it comes from.
#include <string>

#include <doctest/doctest.h>

#include "tests/detect/nvidia_machine.h"

using namespace axle::detect;
using namespace axle::testing;

TEST_CASE("a healthy NVIDIA machine") {
  RecordedHost host = healthy_nvidia();
  const Machine machine = probe_machine(host);
  const Driver& driver = nvidia_driver_of(machine);
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

TEST_CASE("a GPU that the container was not given is listed but no problem") {
  RecordedHost host = healthy_nvidia();
  host.plug("0000:66:00.0", 0x10DE, 0x2330, "nvidia");
  const Machine machine = probe_machine(host);
  REQUIRE(machine.gpus.size() == 2);
  CHECK(machine.gpus[1].usable == Presence::blocked);
  CHECK(machine.gpus[1].reason_code == "not-listed");
  CHECK(machine.problems.empty());
}

TEST_CASE("masks hide devices in the order that CUDA counts them") {
  RecordedHost host = healthy_nvidia();
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
  CHECK(nvidia_driver_of(machine).usable == Presence::present);
  host.variables["CUDA_VISIBLE_DEVICES"] = "GPU-bb";
  machine = probe_machine(host);
  CHECK_FALSE(machine.gpus[0].masked);
  CHECK(machine.gpus[1].masked);
}

TEST_CASE("without the libraries a GPU is unknown, and nothing is asked") {
  RecordedHost host = healthy_nvidia();
  const Machine machine = probe_machine(host, {.driver_libraries = false});
  CHECK(host.asked.empty());
  CHECK(machine.gpus.at(0).usable == Presence::unknown);
  CHECK(machine.gpus.at(0).reason_code == "not-asked");
  CHECK(nvidia_driver_of(machine).api_version == "12.4");
  CHECK(machine.problems.empty());
}

TEST_CASE("names of GPUs are known from the kernel driver when the libraries fail") {
  RecordedHost host = healthy_nvidia();
  host.files["/proc/driver/nvidia/gpus/0000:65:00.0/information"] = "Model: \t NVIDIA H100 PCIe\n";
  host.say(GpuVendor::nvidia, "cuda.missing\tx\nnvml.missing\tx\n");
  CHECK(probe_machine(host).gpus.at(0).name == "NVIDIA H100 PCIe");
}

TEST_CASE("a GPU in MIG mode has its parent's capability, and says so") {
  RecordedHost host = healthy_nvidia();
  host.say(GpuVendor::nvidia,
           "cuda.version\t12040\nnvml.init\t0\nnvml.count\t1\n"
           "nvml.device\t0\t9.0\t00000000:65:00.0\t1\tGPU-a\tNVIDIA H100\t10de:2330\t1\n");
  const Machine machine = probe_machine(host);
  CHECK(machine.gpus.at(0).mig);
  CHECK(machine.gpus.at(0).arch == "9.0");
  CHECK(machine.gpus.at(0).usable == Presence::present);
}

TEST_CASE("every fact of a GPU names its source") {
  RecordedHost host = healthy_nvidia();
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
  CHECK(nvidia_driver_of(machine).sources == Sources{{"kernel_version", "sysfs"},
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
  RecordedHost host = healthy_nvidia();
  host.variables["CUDA_VISIBLE_DEVICES"] = "";
  const Machine machine = probe_machine(host);
  CHECK(nvidia_driver_of(machine).usable == Presence::present);
  CHECK(machine.gpus.at(0).usable == Presence::present);
  CHECK(machine.gpus.at(0).masked);
  REQUIRE(machine.problems.size() == 1);
  CHECK(machine.problems[0].code == "nvidia.all-masked");
  CHECK(machine.problems[0].message.find("CUDA_VISIBLE_DEVICES") != std::string::npos);
}

TEST_CASE("a mask by an id that no library tells hides nothing") {
  RecordedHost host = healthy_nvidia();
  host.variables["CUDA_VISIBLE_DEVICES"] = "GPU-aaaa";
  host.say(GpuVendor::nvidia,
           "cuda.version\t12040\nnvml.missing\tx\ncuda.init\t0\n"
           "cuda.device\t0\t9.0\t0000:65:00.0\t2\t0\tH100\n");
  const Machine machine = probe_machine(host);
  CHECK_FALSE(machine.gpus.at(0).masked);
  CHECK(machine.problems.empty());
}

TEST_CASE("an invalid capability is unknown") {
  RecordedHost host = healthy_nvidia();
  for (const std::string capability : {"-1.0", "9", "9.", "0.0", "999.0", "9.0a", "2147483647.1"}) {
    CAPTURE(capability);
    host.say(GpuVendor::nvidia,
             "cuda.version\t12040\nnvml.init\t0\nnvml.count\t1\n"
             "nvml.device\t0\t" +
                 capability + "\t00000000:65:00.0\t1\tGPU-a\tH100\n");
    CHECK(probe_machine(host).gpus.at(0).arch.empty());
  }
}

TEST_CASE("names are cut, and paths are not") {
  RecordedHost host = healthy_nvidia();
  const std::string folder = '/' + std::string(300, 'x');
  host.say(GpuVendor::nvidia,
           "cuda.file\t" + folder +
               "/libcuda.so.550.54.14\ncuda.version\t12040\nnvml.init\t0\n"
               "nvml.count\t1\nnvml.device\t0\t9.0\t00000000:65:00.0\t1\tGPU-a\t" +
               std::string(300, 'n') + "\n");
  const Machine machine = probe_machine(host);
  CHECK(machine.gpus.at(0).name == std::string(128, 'n'));
  CHECK(nvidia_driver_of(machine).library_version == "550.54.14");
}
