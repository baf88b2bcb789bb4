// Forward-compatibility libraries in the place of the driver's libcuda.
#include <string>

#include <doctest/doctest.h>

#include "tests/detect/nvidia_machine.h"

using namespace axle::detect;
using namespace axle::testing;

namespace {

const std::string compat_lines =
    "cuda.file\t/usr/local/cuda/compat/libcuda.so.575.57.08\ncuda.compat\t12.9\t535,550,570\n"
    "cuda.version\t12090\nnvml.init\t0\nnvml.driver\t550.54.14\nnvml.cuda\t12090\nnvml.count\t1\n" +
    h100;

}  // namespace

TEST_CASE("a compat library that the GPU does not support") {
  RecordedHost host = healthy_nvidia();
  host.say(GpuVendor::nvidia,
           "cuda.file\t/usr/local/cuda/compat/libcuda.so.575.57.08\ncuda.version\t12090\n"
           "nvml.init\t0\nnvml.cuda\t12090\nnvml.count\t1\n" +
               h100 + "cuda.init\t804\n");
  check_nvidia_blocked(host, "compat-not-supported");
  // CUDA without the compat library is what the kernel module brings.
  const Machine machine = probe_machine(host);
  CHECK(nvidia_driver_of(machine).api_version == "12.4");
  CHECK(nvidia_driver_of(machine).api_source == "driver-table");
}

TEST_CASE("a compat library that works is reported") {
  RecordedHost host = healthy_nvidia();
  host.say(GpuVendor::nvidia,
           "cuda.file\t/usr/local/cuda/compat/libcuda.so.575.57.08\ncuda.version\t12090\n"
           "nvml.init\t0\nnvml.count\t1\n" +
               h100);
  const Machine machine = probe_machine(host);
  CHECK(nvidia_driver_of(machine).api_version == "12.9");
  CHECK(nvidia_driver_of(machine).api_source == "libcuda-compat");
}

TEST_CASE("if a compat library is rejected, the driver's own is used") {
  RecordedHost host = healthy_nvidia();
  host.say(GpuVendor::nvidia,
           compat_lines +
               "cuda.init\t804\ncuda.retry\t/usr/lib/x86_64-linux-gnu/libcuda.so.550.54.14\n"
               "cuda.file\t/usr/lib/x86_64-linux-gnu/libcuda.so.550.54.14\ncuda.version\t12040\n"
               "cuda.init\t0\ncuda.device\t0\t9.0\t0000:65:00.0\t1\t0\tH100\n");
  const Machine machine = probe_machine(host);
  const Driver& driver = nvidia_driver_of(machine);
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
  RecordedHost host = healthy_nvidia();
  host.files["/sys/module/nvidia/version"] = "545.23.06\n";
  host.say(GpuVendor::nvidia, compat_lines + "cuda.init\t803\n");
  check_nvidia_blocked(host, "compat-branch");
  host.files["/sys/module/nvidia/version"] = "550.54.14\n";
  check_nvidia_blocked(host, "compat-failed");
}
