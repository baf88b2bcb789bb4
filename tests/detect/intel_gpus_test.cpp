#include <csignal>
#include <string>

#include <doctest/doctest.h>

#include "detect/intel/facts.h"
#include "detect/intel/gpus.h"
#include "detect/probe.h"
#include "tests/support/recorded_host.h"

using namespace axle::detect;
using axle::testing::RecordedHost;
using End = DriverAnswer::End;

namespace {

// 0xE20B = 57867, 0x8086 = 32902, 20.1.0 = 83902464.
const std::string b580_line =
    "ze.device\t0\t32902\t57867\t83902464\t0000:03:00.0\t12884901888\t0\tIntel Arc B580\n";

RecordedHost b580() {
  RecordedHost host;
  host.plug("0000:03:00.0", 0x8086, 0xE20B, "xe");
  host.files["/sys/bus/pci/devices/0000:03:00.0/drm/card0/dev"] = "";
  host.files["/sys/bus/pci/devices/0000:03:00.0/drm/renderD128/dev"] = "";
  host.add_node("/dev/dri/renderD128");
  host.files["/usr/lib/x86_64-linux-gnu/libze_loader.so.1"] = "";
  host.say(GpuVendor::intel, "step\tzeInit\nze.init\t0\nze.api\t65539\nze.driver\t17204010\n" +
                                 b580_line + "ze.count\t1\n");
  return host;
}

void check_blocked(RecordedHost& host, const std::string& code) {
  CAPTURE(code);
  const Machine machine = probe_machine(host);
  REQUIRE(machine.gpus.size() == 1);
  CHECK(machine.gpus[0].usable == Presence::blocked);
  CHECK(machine.gpus[0].reason_code == code);
  CHECK(find_driver(machine, GpuVendor::intel)->usable == Presence::blocked);
  REQUIRE(machine.problems.size() == 1);
  CHECK(machine.problems[0].code == "intel." + code);
}

}  // namespace

TEST_CASE("device IP versions are architecture, release and revision") {
  CHECK(render_device_ip(83902464) == "20.1.0");
  CHECK(render_device_ip((12U << 22U) | (60U << 14U) | 7U) == "12.60.7");
  CHECK(render_device_ip(0).empty());
  CHECK(render_level_zero_version(65539) == "1.3");
  CHECK(render_level_zero_driver(0x0106832A) == "1.6.33578");
}

TEST_CASE("models by PCI device id") {
  REQUIRE(find_intel_model(0xE20B) != nullptr);
  CHECK(find_intel_model(0xE20B)->ip == "20.1.0");
  CHECK(find_intel_model(0x0BDA)->ip == "12.60.7");
  CHECK(find_intel_model(0x9A49) == nullptr);
}

TEST_CASE("a healthy Intel machine") {
  RecordedHost host = b580();
  const Machine machine = probe_machine(host);
  REQUIRE(machine.gpus.size() == 1);
  CHECK(machine.gpus[0].usable == Presence::present);
  CHECK(machine.gpus[0].arch == "20.1.0");
  CHECK(machine.gpus[0].name == "Intel Arc B580");
  CHECK(machine.gpus[0].memory_bytes == 12884901888U);
  const Driver* const driver = find_driver(machine, GpuVendor::intel);
  REQUIRE(driver != nullptr);
  CHECK(driver->usable == Presence::present);
  CHECK(driver->api_version == "1.3");
  CHECK(driver->library_version == "1.6.33578");
  CHECK(machine.problems.empty());
}

TEST_CASE("an old driver without the IP version is known by its device id") {
  RecordedHost host = b580();
  host.say(GpuVendor::intel, "ze.init\t0\nze.device\t0\t32902\t57867\t0\t\t0\t0\tB580\n");
  const Machine machine = probe_machine(host);
  REQUIRE(machine.gpus.size() == 1);
  CHECK(machine.gpus[0].arch == "20.1.0");
}

TEST_CASE(
    "without Level Zero nobody is asked, and the right GPU under the right driver is likely") {
  for (const char* driver : {"xe", "i915"}) {
    RecordedHost host = b580();
    host.links["/sys/bus/pci/devices/0000:03:00.0/driver"] = std::string("../drivers/") + driver;
    host.files.erase("/usr/lib/x86_64-linux-gnu/libze_loader.so.1");
    const Machine machine = probe_machine(host);
    CHECK(host.asked.empty());
    CHECK(machine.gpus.at(0).usable == Presence::present);
    CHECK(machine.gpus.at(0).reason_code == "unconfirmed");
    CHECK(machine.gpus.at(0).arch == "20.1.0");
    CHECK(machine.gpus.at(0).sources.at("arch") == "pci-id-table");
    CHECK(find_driver(machine, GpuVendor::intel)->usable == Presence::present);
    REQUIRE(machine.problems.size() == 1);
    CHECK(machine.problems[0].code == "intel.unconfirmed");
    // What the files rule out is not likely.
    host.refused.insert("/dev/dri/renderD128");
    check_blocked(host, "no-permission");
  }
}

TEST_CASE("Level Zero without a driver, or with a broken one") {
  RecordedHost host = b580();
  host.say(GpuVendor::intel, "ze.init\t2013265921\n");
  check_blocked(host, "no-user-driver");
  host.say(GpuVendor::intel, "ze.init\t1879179264\n");
  check_blocked(host, "no-user-driver");
  host.say(GpuVendor::intel, "ze.missing\tno such file\n");
  check_blocked(host, "no-user-driver");
  host.say(GpuVendor::intel, "ze.init\t1879048193\n");
  check_blocked(host, "driver-error");
  host.say(GpuVendor::intel, "ze.symbol\tzeInit\nze.init\t2147483646\n");
  check_blocked(host, "missing-symbol");
  host.say(GpuVendor::intel, "ze.init\t0\nze.count\t0\n");
  check_blocked(host, "no-device");
  host.say(GpuVendor::intel, End::timed_out, "step\tzeInit\n");
  check_blocked(host, "driver-hangs");
  host.say(GpuVendor::intel, End::crashed, "step\tzeInit\n", SIGSEGV);
  check_blocked(host, "driver-crashed");
}

TEST_CASE("the files explain an Intel GPU that is not listed") {
  RecordedHost host = b580();
  host.say(GpuVendor::intel, "ze.init\t2013265921\n");
  host.refused.insert("/dev/dri/renderD128");
  check_blocked(host, "no-permission");
  host.refused.clear();
  host.files.erase("/dev/dri/renderD128");
  check_blocked(host, "no-device-nodes");
  host.links["/sys/bus/pci/devices/0000:03:00.0/driver"] = "../drivers/vfio-pci";
  check_blocked(host, "other-driver");
  host.links.clear();
  check_blocked(host, "no-kernel-driver");
}

TEST_CASE("a laptop's older graphics is not an XPU, is no problem, and starts no query") {
  RecordedHost host;
  host.plug("0000:00:02.0", 0x8086, 0x9A49, "i915");
  host.files["/usr/lib/x86_64-linux-gnu/libze_loader.so.1"] = "";
  const Machine machine = probe_machine(host);
  REQUIRE(machine.gpus.size() == 1);
  CHECK(machine.gpus[0].usable == Presence::absent);
  CHECK(machine.gpus[0].reason_code == "integrated-unsupported");
  CHECK(machine.gpus[0].name == "Iris Xe Graphics (Tiger Lake)");
  CHECK(machine.gpus[0].arch == "12.0.0");
  CHECK(machine.gpus[0].integrated);
  CHECK(machine.problems.empty());
  CHECK(host.asked.empty());
}

TEST_CASE("older graphics that Level Zero lists are not XPUs either") {
  RecordedHost host;
  host.plug("0000:00:02.0", 0x8086, 0x4680, "i915");
  host.files["/usr/lib/x86_64-linux-gnu/libze_intel_gpu.so.1"] = "";
  host.files["/usr/lib/x86_64-linux-gnu/libze_loader.so.1"] = "";
  // 0x4680 = 18048, 12.2.0 = 50364416.
  const std::string address = "0000:00:02.0\t1\t1\tUHD 770\n";
  for (const std::string ip : {"50364416", "0"}) {
    host.say(GpuVendor::intel, "ze.init\t0\nze.device\t0\t32902\t18048\t" + ip + "\t" + address);
    const Machine machine = probe_machine(host);
    REQUIRE(machine.gpus.size() == 1);
    CHECK(machine.gpus[0].usable == Presence::absent);
    CHECK(machine.gpus[0].reason_code == "integrated-unsupported");
    CHECK(machine.gpus[0].arch == "12.2.0");
    CHECK(machine.problems.empty());
  }
}

TEST_CASE("a device IP that no table knows is kept") {
  RecordedHost host = b580();
  host.plug("0000:03:00.0", 0x8086, 0xF123, "xe");
  // 40.1.2
  host.say(GpuVendor::intel,
           "ze.init\t0\nze.device\t0\t32902\t61731\t167788546\t0000:03:00.0\t1\t0\tXe9\n");
  const Machine machine = probe_machine(host);
  CHECK(machine.gpus.at(0).usable == Presence::present);
  CHECK(machine.gpus.at(0).arch == "40.1.2");
  CHECK(machine.gpus.at(0).pci_id == "8086:f123");
}

TEST_CASE("Level Zero masks hide devices") {
  RecordedHost host = b580();
  host.variables["ZE_AFFINITY_MASK"] = "1";
  Machine machine = probe_machine(host);
  CHECK(machine.gpus.at(0).masked);
  CHECK(machine.gpus.at(0).usable == Presence::present);
  host.variables["ZE_AFFINITY_MASK"] = "0.1";
  CHECK_FALSE(probe_machine(host).gpus.at(0).masked);
}

TEST_CASE("without the libraries an Intel GPU is unknown") {
  RecordedHost host = b580();
  const Machine machine = probe_machine(host, {.driver_libraries = false});
  CHECK(machine.gpus.at(0).usable == Presence::unknown);
  CHECK(machine.problems.empty());
}

TEST_CASE("a driver without the loader is no worse than neither") {
  RecordedHost host = b580();
  host.files.erase("/usr/lib/x86_64-linux-gnu/libze_loader.so.1");
  host.files["/usr/lib/x86_64-linux-gnu/libze_intel_gpu.so.1"] = "";
  host.say(GpuVendor::intel, "step\tloading libze_loader.so.1\nze.missing\tno such file\n");
  const Machine machine = probe_machine(host);
  CHECK(host.asked.size() == 1);
  CHECK(machine.gpus.at(0).usable == Presence::present);
  CHECK(machine.gpus.at(0).reason_code == "unconfirmed");
  // One that root may not load is another matter.
  host.say(GpuVendor::intel, "library.refused\t/x belongs to another user\nze.missing\tx\n");
  check_blocked(host, "untrusted-library");
}
