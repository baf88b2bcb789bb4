#include <array>
#include <csignal>
#include <string>
#include <utility>

#include <doctest/doctest.h>

#include "detect/amd/gpus.h"
#include "detect/probe.h"
#include "tests/support/recorded_host.h"

using namespace axle::detect;
using axle::testing::RecordedHost;
using End = DriverAnswer::End;

namespace {

const std::string nodes = "/sys/class/kfd/kfd/topology/nodes/";

void add_node(RecordedHost& host, int number, int gfx, int bus, int minor) {
  const std::string folder = nodes + std::to_string(number);
  host.files[folder + "/gpu_id"] = "4711\n";
  host.files[folder + "/properties"] =
      "cpu_cores_count 0\nsimd_count 1216\nvendor_id 4098\ndevice_id 29857\nlocation_id " +
      std::to_string(bus << 8) + "\ndomain 0\ndrm_render_minor " + std::to_string(minor) +
      "\ngfx_target_version " + std::to_string(gfx) + "\n";
}

RecordedHost mi300x() {
  RecordedHost host;
  host.plug("0000:c1:00.0", 0x1002, 0x74A1, "amdgpu");
  host.files[nodes + "0/gpu_id"] = "0\n";
  host.files[nodes + "0/properties"] = "cpu_cores_count 96\nsimd_count 0\nvendor_id 0\n";
  add_node(host, 1, 90402, 0xC1, 128);
  host.add_node("/dev/kfd");
  host.add_node("/dev/dri/renderD128");
  host.files["/opt/rocm/.info/version"] = "6.4.0-47\n";
  const std::string device = "/sys/bus/pci/devices/0000:c1:00.0";
  host.files[device + "/mem_info_vram_total"] = "206141652992\n";
  host.files[device + "/mem_info_vram_vendor"] = "hynix\n";
  return host;
}

void check_gpu(const Machine& machine, Presence usable, const std::string& code) {
  CAPTURE(code);
  REQUIRE(machine.gpus.size() == 1);
  CHECK(machine.gpus[0].usable == usable);
  CHECK(machine.gpus[0].reason_code == code);
  const Driver* const driver = find_driver(machine, GpuVendor::amd);
  REQUIRE(driver != nullptr);
  CHECK(driver->usable == usable);
  if (usable == Presence::blocked) {
    REQUIRE(machine.problems.size() == 1);
    CHECK(machine.problems[0].code == "amd." + code);
    CHECK_FALSE(machine.problems[0].hint.empty());
  } else {
    CHECK(machine.problems.empty());
  }
}

}  // namespace

TEST_CASE("gfx names are decimal, hexadecimal, hexadecimal") {
  constexpr std::array<std::pair<int, const char*>, 15> known{{{80003, "gfx803"},
                                                               {90000, "gfx900"},
                                                               {90006, "gfx906"},
                                                               {90008, "gfx908"},
                                                               {90010, "gfx90a"},
                                                               {90012, "gfx90c"},
                                                               {90402, "gfx942"},
                                                               {90500, "gfx950"},
                                                               {100300, "gfx1030"},
                                                               {100306, "gfx1036"},
                                                               {110000, "gfx1100"},
                                                               {110003, "gfx1103"},
                                                               {110501, "gfx1151"},
                                                               {120000, "gfx1200"},
                                                               {120001, "gfx1201"}}};
  for (const auto& [version, name] : known)
    CHECK(render_gfx(static_cast<unsigned>(version)) == name);
  CHECK(render_gfx(0).empty());
  CHECK(render_gfx(91600).empty());
  CHECK(render_gfx(~std::uint64_t{0}).empty());
}

TEST_CASE("KFD properties are keys and numbers") {
  const KfdNode node = parse_kfd_properties(
      "simd_count 1216\nnonsense\nvendor_id x\nlocation_id 49415\ndomain 1\n"
      "gfx_target_version 90402\nunknown 7");
  CHECK(node.simd_count == 1216);
  CHECK(node.vendor_id == 0);
  CHECK(node.gfx_target_version == 90402);
  CHECK(pci_address_of(node) == "0001:c1:00.7");
  CHECK(pci_address_of(KfdNode{.location_id = 0x10000}).empty());
}

TEST_CASE("versions of ROCm") {
  CHECK(parse_rocm_version("6.4.0-47\n") == "6.4");
  CHECK(parse_rocm_version("7.0.1").starts_with("7.0"));
  CHECK(parse_rocm_version("six").empty());
  CHECK(parse_rocm_version("").empty());
  CHECK(parse_hip_library_name("libamdhip64.so.6.4.43482") == "6.4");
  CHECK(parse_hip_library_name("libamdhip64.so.6").empty());
  CHECK(parse_gfx_override("10.3.0") == "gfx1030");
  CHECK(parse_gfx_override("9.0.10") == "gfx90a");
  CHECK(parse_gfx_override("gfx1030").empty());
}

TEST_CASE("a healthy AMD machine needs no library") {
  RecordedHost host = mi300x();
  const Machine machine = probe_machine(host);
  check_gpu(machine, Presence::present, "");
  CHECK(machine.gpus[0].arch == "gfx942");
  CHECK(machine.gpus[0].pci_address == "0000:c1:00.0");
  CHECK(machine.gpus[0].memory_bytes == 206141652992U);
  CHECK_FALSE(machine.gpus[0].integrated);
  CHECK(find_driver(machine, GpuVendor::amd)->api_version == "6.4");
  CHECK(find_driver(machine, GpuVendor::amd)->api_source == "rocm-info");
  CHECK(host.asked.empty());
}

TEST_CASE("ROCm SMI adds names and never decides") {
  RecordedHost host = mi300x();
  host.files["/opt/rocm/lib/librocm_smi64.so.7"] = "";
  host.say(
      GpuVendor::amd,
      "smi.init\t0\nsmi.driver\t6.8.5\nsmi.count\t1\nsmi.device\t0\t0000:c1:00.0\t7\tMI300X\n");
  Machine machine = probe_machine(host);
  check_gpu(machine, Presence::present, "");
  CHECK(machine.gpus[0].name == "MI300X");
  CHECK(find_driver(machine, GpuVendor::amd)->kernel_version == "6.8.5");
  host.say(GpuVendor::amd, End::crashed, "step\trsmi_init\n", SIGABRT);
  machine = probe_machine(host);
  CHECK(machine.gpus.at(0).usable == Presence::present);
  REQUIRE(machine.problems.size() == 1);
  CHECK(machine.problems[0].code == "amd.driver-crashed");
}

TEST_CASE("no AMD kernel driver, another one, and one without compute") {
  RecordedHost host;
  host.plug("0000:c1:00.0", 0x1002, 0x74A1, "");
  check_gpu(probe_machine(host), Presence::blocked, "no-kernel-driver");
  host.plug("0000:c1:00.0", 0x1002, 0x74A1, "vfio-pci");
  check_gpu(probe_machine(host), Presence::blocked, "other-driver");
  host.plug("0000:c1:00.0", 0x1002, 0x74A1, "amdgpu");
  check_gpu(probe_machine(host), Presence::blocked, "no-compute");
  host.plug("0000:c1:00.0", 0x1002, 0x6779, "radeon");
  check_gpu(probe_machine(host), Presence::absent, "unsupported-gpu");
}

TEST_CASE("AMD device nodes that are missing or refused") {
  RecordedHost host = mi300x();
  host.refused.insert("/dev/kfd");
  check_gpu(probe_machine(host), Presence::blocked, "no-permission");
  host = mi300x();
  host.refused.insert("/dev/dri/renderD128");
  check_gpu(probe_machine(host), Presence::blocked, "no-permission");
  host = mi300x();
  host.files.erase("/dev/kfd");
  check_gpu(probe_machine(host), Presence::blocked, "no-device-nodes");
  host = mi300x();
  host.files.erase("/dev/dri/renderD128");
  check_gpu(probe_machine(host), Presence::blocked, "no-device-nodes");
}

TEST_CASE("a GPU that the container may not have") {
  RecordedHost host = mi300x();
  host.refused.insert(nodes + "1/gpu_id");
  check_gpu(probe_machine(host), Presence::blocked, "not-listed");
}

TEST_CASE("a GPU that KFD does not know is no problem") {
  RecordedHost host = mi300x();
  host.files.erase(nodes + "1/gpu_id");
  host.files.erase(nodes + "1/properties");
  check_gpu(probe_machine(host), Presence::absent, "unsupported-gpu");
}

TEST_CASE("a card beside an integrated GPU") {
  RecordedHost host = mi300x();
  host.plug("0000:12:00.0", 0x1002, 0x164E, "amdgpu");
  add_node(host, 2, 100306, 0x12, 129);
  host.add_node("/dev/dri/renderD129");
  host.files["/sys/bus/pci/devices/0000:12:00.0/mem_info_vram_total"] = "536870912\n";
  const Machine machine = probe_machine(host);
  REQUIRE(machine.gpus.size() == 2);
  CHECK(machine.gpus[0].arch == "gfx1036");
  CHECK(machine.gpus[0].integrated);
  CHECK(machine.gpus[1].arch == "gfx942");
  CHECK_FALSE(machine.gpus[1].integrated);
}

TEST_CASE("AMD masks count in the topology's order and one inside the other") {
  RecordedHost host = mi300x();
  host.plug("0000:12:00.0", 0x1002, 0x74A1, "amdgpu");
  add_node(host, 2, 90402, 0x12, 129);
  host.add_node("/dev/dri/renderD129");
  host.variables["ROCR_VISIBLE_DEVICES"] = "1";
  Machine machine = probe_machine(host);
  REQUIRE(machine.gpus.size() == 2);
  CHECK_FALSE(machine.gpus[0].masked);  // node 2, first on the bus
  CHECK(machine.gpus[1].masked);
  host.variables["HIP_VISIBLE_DEVICES"] = "1";  // of the one that is left
  machine = probe_machine(host);
  CHECK(machine.gpus[0].masked);
  CHECK(machine.gpus[1].masked);
}

TEST_CASE("an overridden gfx version is what programs see") {
  RecordedHost host = mi300x();
  host.variables["HSA_OVERRIDE_GFX_VERSION"] = "9.0.10";
  const Machine machine = probe_machine(host);
  CHECK(machine.gpus.at(0).arch == "gfx90a");
  CHECK(machine.gpus.at(0).usable == Presence::present);
  CHECK(machine.gpus.at(0).reason_code == "gfx-override");
}

TEST_CASE("ROCm's version from the name of its HIP library") {
  RecordedHost host = mi300x();
  host.files.erase("/opt/rocm/.info/version");
  host.files["/opt/rocm/lib/libamdhip64.so.6"] = "";
  host.links["/opt/rocm/lib/libamdhip64.so.6"] = "libamdhip64.so.6.4.43482";
  const Machine machine = probe_machine(host);
  CHECK(find_driver(machine, GpuVendor::amd)->api_version == "6.4");
  CHECK(find_driver(machine, GpuVendor::amd)->api_source == "libamdhip64");
}

TEST_CASE("target ids say what the kernel tells, and select nothing") {
  KfdNode node;
  node.gfx_target_version = 90010;
  CHECK(render_target_id(node) == "gfx90a:sramecc-");
  node.capability = 1U << 26U;
  CHECK(render_target_id(node) == "gfx90a:sramecc+");
  node.gfx_target_version = 110000;
  CHECK(render_target_id(node).empty());
  RecordedHost host = mi300x();
  host.files[nodes + "1/properties"] += "capability 67108864\n";
  const Machine machine = probe_machine(host);
  CHECK(machine.gpus.at(0).arch == "gfx942");
  CHECK(machine.gpus.at(0).target_id == "gfx942:sramecc+");
  CHECK(machine.gpus.at(0).sources.at("arch") == "kfd");
  CHECK(machine.gpus.at(0).pci_id == "1002:74a1");
  CHECK(machine.gpus.at(0).kernel_driver == "amdgpu");
}

TEST_CASE("a node whose properties the kernel does not let us read is another container's GPU") {
  RecordedHost host = mi300x();
  host.refused.insert(nodes + "1/properties");
  check_gpu(probe_machine(host), Presence::blocked, "not-listed");
  // Beside a GPU that works it is no problem.
  host.plug("0000:c2:00.0", 0x1002, 0x74A1, "amdgpu");
  add_node(host, 2, 90402, 0xC2, 129);
  host.add_node("/dev/dri/renderD129");
  const Machine machine = probe_machine(host);
  REQUIRE(machine.gpus.size() == 2);
  CHECK(machine.gpus[0].reason_code == "not-listed");
  CHECK(machine.gpus[1].usable == Presence::present);
  CHECK(machine.problems.empty());
}

TEST_CASE("integrated GPUs are distinguished from cards by architecture, otherwise by memory") {
  RecordedHost host;
  host.plug("0000:03:00.0", 0x1002, 0x744C, "amdgpu");
  host.plug("0000:0a:00.0", 0x1002, 0x164E, "amdgpu");
  host.plug("0000:0b:00.0", 0x1002, 0x1638, "amdgpu");
  host.add_node("/dev/kfd");
  add_node(host, 1, 110000, 0x03, 128);
  add_node(host, 2, 100306, 0x0A, 129);
  add_node(host, 3, 90007, 0x0B, 130);  // a version that no list knows
  for (const char* node : {"/dev/dri/renderD128", "/dev/dri/renderD129", "/dev/dri/renderD130"})
    host.add_node(node);
  const std::string bus = "/sys/bus/pci/devices/";
  host.files[bus + "0000:03:00.0/mem_info_vram_total"] = "25753026560\n";
  host.files[bus + "0000:03:00.0/board_info"] = "type : cem\n";
  host.files[bus + "0000:0a:00.0/mem_info_vram_total"] = "536870912\n";
  host.files[bus + "0000:0b:00.0/mem_info_vram_total"] = "536870912\n";
  host.files[bus + "0000:0b:00.0/mem_info_gtt_total"] = "16777216000\n";
  Machine machine = probe_machine(host);
  REQUIRE(machine.gpus.size() == 3);
  CHECK_FALSE(machine.gpus[0].integrated);
  CHECK(machine.gpus[1].integrated);
  CHECK(machine.gpus[1].arch == "gfx1036");
  CHECK(machine.gpus[2].integrated);
  host.files[bus + "0000:0b:00.0/mem_info_vram_total"] = "8589934592\n";
  CHECK_FALSE(probe_machine(host).gpus.at(2).integrated);
}

TEST_CASE("masks name AMD GPUs by number and by id, and GPU_DEVICE_ORDINAL is one") {
  RecordedHost host = mi300x();
  host.plug("0000:c2:00.0", 0x1002, 0x74A1, "amdgpu");
  add_node(host, 2, 90402, 0xC2, 129);
  host.add_node("/dev/dri/renderD129");
  host.files[nodes + "1/properties"] += "unique_id 1311768467463790320\n";  // 0x123456789ABCDEF0
  host.files[nodes + "2/properties"] += "unique_id 255\n";
  const auto masked = [&](const std::string& variable, const std::string& value) {
    host.variables = {{variable, value}};
    const Machine machine = probe_machine(host);
    return std::pair(machine.gpus.at(0).masked, machine.gpus.at(1).masked);
  };
  CHECK(masked("ROCR_VISIBLE_DEVICES", "1") == std::pair(true, false));
  CHECK(masked("ROCR_VISIBLE_DEVICES", "GPU-123456789abcdef0") == std::pair(false, true));
  CHECK(masked("HIP_VISIBLE_DEVICES", "0") == std::pair(false, true));
  CHECK(masked("CUDA_VISIBLE_DEVICES", "1") == std::pair(true, false));
  CHECK(masked("GPU_DEVICE_ORDINAL", "1") == std::pair(true, false));
  CHECK(masked("ROCR_VISIBLE_DEVICES", "") == std::pair(true, true));
  host.variables = {{"ROCR_VISIBLE_DEVICES", "1"}, {"HIP_VISIBLE_DEVICES", "-1"}};
  const Machine machine = probe_machine(host);
  REQUIRE(machine.problems.size() == 1);
  CHECK(machine.problems[0].code == "amd.all-masked");
  CHECK(machine.problems[0].message.find("ROCR_VISIBLE_DEVICES or HIP_VISIBLE_DEVICES") !=
        std::string::npos);
}

TEST_CASE("an override can be for one node of the topology") {
  RecordedHost host = mi300x();
  host.variables["HSA_OVERRIDE_GFX_VERSION_1"] = "9.0.10";
  host.variables["HSA_OVERRIDE_GFX_VERSION"] = "10.3.0";
  const Machine machine = probe_machine(host);
  CHECK(machine.gpus.at(0).arch == "gfx90a");
  CHECK(machine.gpus.at(0).reason.find("HSA_OVERRIDE_GFX_VERSION_1") != std::string::npos);
  CHECK(machine.gpus.at(0).sources.at("arch") == "HSA_OVERRIDE_GFX_VERSION_1");
}

TEST_CASE("ROCm under WSL is probably a GPU of unknown model") {
  RecordedHost host;
  host.add_node("/dev/dxg");
  host.files["/opt/rocm/lib/libhsa-runtime64.so.1"] = "";
  host.files["/opt/rocm/.info/version-dev"] = "6.4.2-120\n";
  const Machine machine = probe_machine(host);
  REQUIRE(machine.gpus.size() == 1);
  CHECK(machine.gpus[0].usable == Presence::unknown);
  CHECK(machine.gpus[0].reason_code == "wsl-no-topology");
  CHECK(find_driver(machine, GpuVendor::amd)->api_version == "6.4");
  REQUIRE(machine.problems.size() == 1);
  CHECK(machine.problems[0].code == "amd.wsl-no-topology");
}

TEST_CASE("an accelerator without its kernel driver is seen by its class") {
  RecordedHost host;
  host.files["/sys/bus/pci/devices/0000:c1:00.0/modalias"] =
      "pci:v00001002d000074A1sv00000000sd00000000bc12sc00i00\n";
  const Machine machine = probe_machine(host);
  check_gpu(machine, Presence::blocked, "no-kernel-driver");
}
