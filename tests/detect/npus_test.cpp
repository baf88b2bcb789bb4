// Accelerators that are no GPUs.
#include "detect/npu/npus.h"

#include <string>

#include <doctest/doctest.h>

#include "detect/npu/ascend_facts.h"
#include "detect/probe.h"
#include "detect/record/recording.h"
#include "detect/record/scrub.h"
#include "tests/support/recorded_host.h"

using namespace axle::detect;
using axle::testing::RecordedHost;

namespace {

void add_device(RecordedHost& host, const std::string& address, const std::string& id,
                const std::string& driver) {
  const std::string folder = "/sys/bus/pci/devices/" + address;
  host.files[folder + "/modalias"] = "pci:" + id + "sv00000000sd00000000bc12sc00i00\n";
  if (!driver.empty()) host.links[folder + "/driver"] = "../../../bus/pci/drivers/" + driver;
}

// As npu-smi 24.1 prints it.
const std::string two_910b =
    R"(+------------------------------------------------------------------------------------------------+
| npu-smi 24.1.rc3                 Version: 24.1.rc3                                             |
+---------------------------+---------------+----------------------------------------------------+
| NPU   Name                | Health        | Power(W)    Temp(C)           Hugepages-Usage(page)|
| Chip                      | Bus-Id        | AICore(%)   Memory-Usage(MB)  HBM-Usage(MB)        |
+===========================+===============+====================================================+
| 0     910B3               | OK            | 93.6        39                0    / 0             |
| 0                         | 0000:C1:00.0  | 0           0    / 0          3394 / 65536         |
+===========================+===============+====================================================+
| 1     910B3               | Alarm         | 91.2        38                0    / 0             |
| 0                         | 0000:C2:00.0  | 0           0    / 0          3394 / 65536         |
+===========================+===============+====================================================+
+---------------------------+---------------+----------------------------------------------------+
| NPU     Chip              | Process id    | Process name             | Process memory(MB)      |
+===========================+===============+====================================================+
| 0       0                 | 4711          | python3                  | 100                     |
+===========================+===============+====================================================+
)";

RecordedHost ascend() {
  RecordedHost host;
  host.name.machine = "aarch64";
  add_device(host, "0000:c1:00.0", "v000019E5d0000D802", "devdrv_device_driver");
  add_device(host, "0000:c2:00.0", "v000019E5d0000D802", "devdrv_device_driver");
  for (const char* node : {"/dev/davinci0", "/dev/davinci1", "/dev/davinci_manager",
                           "/dev/devmm_svm", "/dev/hisi_hdc"}) {
    host.add_node(node);
  }
  host.files["/usr/local/bin/npu-smi"] = "";
  host.programs["/usr/local/bin/npu-smi info"] = two_910b;
  host.variables["ASCEND_TOOLKIT_HOME"] = "/usr/local/Ascend/ascend-toolkit/latest";
  host.files["/usr/local/Ascend/ascend-toolkit/latest/aarch64-linux/ascend_toolkit_install.info"] =
      "package_name=Ascend-cann-toolkit\nversion=8.0.RC3\ninnerversion=V100R001\n";
  return host;
}

void check_all_blocked(RecordedHost& host, const std::string& code) {
  CAPTURE(code);
  const Machine machine = probe_machine(host);
  REQUIRE(machine.npus.size() == 2);
  for (const Npu& npu : machine.npus) {
    CHECK(npu.usable == Presence::blocked);
    CHECK(npu.reason_code == code);
  }
  REQUIRE(machine.problems.size() == 1);
  CHECK(machine.problems[0].code == "ascend." + code);
  CHECK_FALSE(machine.problems[0].hint.empty());
}

}  // namespace

TEST_CASE("npu-smi's table is read up to its processes") {
  const AscendTool tool = parse_npu_smi(two_910b);
  CHECK(tool.version == "24.1.rc3");
  REQUIRE(tool.devices.size() == 2);
  CHECK(tool.devices[0].name == "910B3");
  CHECK(tool.devices[0].health == "OK");
  CHECK(tool.devices[0].pci_address == "0000:c1:00.0");
  CHECK(tool.devices[1].health == "Alarm");
  CHECK(parse_npu_smi("").devices.empty());
  CHECK(parse_npu_smi("Segmentation fault").version.empty());
}

TEST_CASE("both chips of an Atlas A3 are devices") {
  const AscendTool tool = parse_npu_smi(
      "| npu-smi 25.0  Version: 25.0.rc1 |\n"
      "| 0     Ascend910           | OK            | 1 |\n"
      "| 0     0                   | 0000:9D:00.0  | 0 |\n"
      "| 0     Ascend910           | OK            | 1 |\n"
      "| 1     1                   | 0000:9F:00.0  | 0 |\n");
  REQUIRE(tool.devices.size() == 2);
  CHECK(tool.devices[1].name == "Ascend910");
  CHECK(tool.devices[1].pci_address == "0000:9f:00.0");
}

TEST_CASE("Ascend's types as the published provider names them") {
  CHECK(ascend_type_of("Ascend910") == "a3");
  CHECK(ascend_type_of("910B3") == "910b");
  CHECK(ascend_type_of("Ascend910B4") == "910b");
  CHECK(ascend_type_of("310P3") == "310p");
  CHECK(ascend_type_of("910A") == "910a");
  CHECK(ascend_type_of("310B4") == "310b4");
  CHECK(ascend_type_of("Ascend310") == "310");
  CHECK(ascend_type_of("910-x").empty());
  CHECK(parse_ascend_version("# x\nVersion=24.1.rc3\n") == "24.1.rc3");
  CHECK(parse_ascend_version("version=\x1b[31m\n").empty());
}

TEST_CASE("a healthy Ascend machine, one of its NPUs in alarm") {
  RecordedHost host = ascend();
  const Machine machine = probe_machine(host);
  REQUIRE(machine.npus.size() == 2);
  const Npu& npu = machine.npus[0];
  CHECK(npu.kind == NpuKind::ascend);
  CHECK(npu.usable == Presence::present);
  CHECK(npu.name == "910B3");
  CHECK(npu.type == "910b");
  CHECK(npu.driver_version == "24.1.rc3");
  CHECK(npu.toolkit_version == "8.0.RC3");
  CHECK(npu.sources.at("driver_version") == "npu-smi");
  CHECK(npu.sources.at("toolkit_version") == "ASCEND_TOOLKIT_HOME");
  CHECK(machine.npus[1].usable == Presence::blocked);
  CHECK(machine.npus[1].reason_code == "unhealthy");
  REQUIRE(machine.problems.size() == 1);
  CHECK(machine.problems[0].code == "ascend.unhealthy");
  CHECK(host.asked.empty());
}

TEST_CASE("npu-smi runs only where the device nodes are") {
  RecordedHost host = ascend();
  host.files.erase("/dev/davinci0");
  host.files.erase("/dev/davinci1");
  check_all_blocked(host, "no-device-nodes");
  host = ascend();
  host.files.erase("/dev/hisi_hdc");
  check_all_blocked(host, "no-device-nodes");
  host = ascend();
  host.refused.insert("/dev/davinci_manager");
  check_all_blocked(host, "no-permission");
  host = ascend();
  host.files.erase("/dev/davinci0");
  host.files.erase("/dev/davinci1");
  host.links.clear();
  check_all_blocked(host, "no-kernel-driver");
}

TEST_CASE("without npu-smi an Ascend NPU is unknown, and the driver's file tells its version") {
  RecordedHost host = ascend();
  host.programs.clear();
  host.files["/usr/local/Ascend/driver/version.info"] = "Version=24.1.rc2\n";
  const Machine machine = probe_machine(host);
  REQUIRE(machine.npus.size() == 2);
  CHECK(machine.npus[0].usable == Presence::unknown);
  CHECK(machine.npus[0].driver_version == "24.1.rc2");
  CHECK(machine.npus[0].sources.at("driver_version") == "version-info");
  REQUIRE(machine.problems.size() == 1);
  CHECK(machine.problems[0].code == "ascend.no-tool");
  const Machine unasked = probe_machine(host, {.driver_libraries = false});
  CHECK(unasked.npus.at(0).reason_code == "not-asked");
  CHECK(unasked.problems.empty());
}

TEST_CASE("an Ascend NPU without CANN works, and says so") {
  RecordedHost host = ascend();
  host.variables.clear();
  std::erase_if(host.files, [](const auto& each) { return each.first.ends_with(".info"); });
  const Machine machine = probe_machine(host);
  CHECK(machine.npus.at(0).usable == Presence::present);
  CHECK(machine.npus.at(0).reason_code == "no-toolkit");
}

TEST_CASE("TPUs by their ids and nodes, in the kernel's class and through VFIO") {
  RecordedHost host;
  add_device(host, "0000:00:05.0", "v00001AE0d0000005E", "google-tpu");
  host.files["/sys/bus/pci/devices/0000:00:05.0/accel/accel0/dev"] = "";
  host.add_node("/dev/accel0");
  add_device(host, "0000:00:06.0", "v00001AE0d00000063", "vfio-pci");
  host.links["/sys/bus/pci/devices/0000:00:06.0/iommu_group"] = "../../kernel/iommu_groups/3";
  host.add_node("/dev/vfio/3");
  add_device(host, "0000:00:07.0", "v00001AE0d00000027", "");
  const Machine machine = probe_machine(host);
  REQUIRE(machine.npus.size() == 3);
  CHECK(machine.npus[0].type == "v4");
  CHECK(machine.npus[0].usable == Presence::present);
  CHECK(machine.npus[1].type == "v5e");
  CHECK(machine.npus[1].usable == Presence::present);
  CHECK(machine.npus[2].type.empty());
  CHECK(machine.npus[2].name == "TPU v2 or v3");
  CHECK(machine.npus[2].reason_code == "no-kernel-driver");
  host.files.erase("/dev/vfio/3");
  CHECK(probe_machine(host).npus.at(1).reason_code == "no-device-nodes");
}

TEST_CASE("Intel's and Qualcomm's NPUs need their driver and node") {
  RecordedHost host;
  add_device(host, "0000:00:0b.0", "v00008086d00007D1D", "intel_vpu");
  host.files["/sys/bus/pci/devices/0000:00:0b.0/accel/accel0/dev"] = "";
  host.add_node("/dev/accel/accel0");
  add_device(host, "0000:41:00.0", "v000017CBd0000A100", "qaic");
  host.files["/sys/bus/pci/devices/0000:41:00.0/accel/accel1/dev"] = "";
  host.add_node("/dev/accel/accel1");
  Machine machine = probe_machine(host);
  REQUIRE(machine.npus.size() == 2);
  CHECK(machine.npus[0].kind == NpuKind::intel_npu);
  CHECK(machine.npus[0].name == "NPU (Meteor Lake)");
  CHECK(machine.npus[0].usable == Presence::present);
  CHECK(machine.npus[1].kind == NpuKind::qualcomm);
  CHECK(machine.npus[1].usable == Presence::present);
  CHECK(machine.gpus.empty());
  CHECK(host.asked.empty());
  host.refused.insert("/dev/accel/accel0");
  host.links["/sys/bus/pci/devices/0000:41:00.0/driver"] = "../drivers/vfio-pci";
  machine = probe_machine(host);
  CHECK(machine.npus[0].reason_code == "no-permission");
  CHECK(machine.npus[1].reason_code == "other-driver");
  CHECK(machine.problems.size() == 2);
}

TEST_CASE("an npu-smi that hangs is reported, and its earlier output is kept") {
  class SlowHost : public RecordedHost {
   public:
    explicit SlowHost(const RecordedHost& host) : RecordedHost(host) {}
    ProgramAnswer run_program(const std::string& command,
                              std::chrono::milliseconds limit) override {
      CHECK(limit == std::chrono::milliseconds(700));
      std::string text = RecordedHost::run_program(command, limit).text;
      text.resize(text.find("0000:C2") == std::string::npos ? 0 : text.find("0000:C2"));
      return {text, false};
    }
  };
  SlowHost host(ascend());
  const ProbeOptions options{.driver_time_limit = std::chrono::milliseconds(700)};
  Machine machine = probe_machine(host, options);
  REQUIRE(machine.npus.size() == 2);
  CHECK(machine.npus[0].usable == Presence::present);
  CHECK(machine.npus[0].type == "910b");
  CHECK(machine.npus[1].usable == Presence::blocked);
  CHECK(machine.npus[1].reason_code == "driver-hangs");
  REQUIRE(machine.problems.size() == 1);
  CHECK(machine.problems[0].code == "ascend.driver-hangs");
  CHECK(machine.problems[0].message.find("700 ms") != std::string::npos);
  host.programs.clear();
  machine = probe_machine(host, options);
  CHECK(machine.npus.at(0).reason_code == "driver-hangs");
  CHECK(machine.npus.at(1).reason_code == "driver-hangs");
}

TEST_CASE("an npu-smi that hung when it was recorded hangs when that is replayed") {
  class StoppedHost : public RecordedHost {
   public:
    explicit StoppedHost(const RecordedHost& host) : RecordedHost(host) {}
    ProgramAnswer run_program(const std::string& command,
                              std::chrono::milliseconds limit) override {
      std::string text = RecordedHost::run_program(command, limit).text;
      text.resize(length);
      return {text, false};
    }
    std::size_t length = 0;
  };
  StoppedHost host(ascend());
  const std::size_t second_device = host.programs.begin()->second.find("0000:C2");
  for (const std::size_t length : {std::size_t{0}, second_device}) {
    host.length = length;
    RecordingHost recorder(host);
    const Machine live = probe_machine(recorder);
    CHECK(live.npus.at(1).reason_code == "driver-hangs");
    ReplayHost replay(recorder.recording());
    CHECK(probe_machine(replay) == live);
    const Recording clean = scrub(recorder.recording(), {});
    ReplayHost scrubbed(clean);
    CHECK(probe_machine(scrubbed).problems == live.problems);
  }
}
