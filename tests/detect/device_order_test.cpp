// In which order devices were enumerated or listed must not show.
#include <string>

#include <doctest/doctest.h>

#include "detect/probe.h"
#include "tests/support/recorded_host.h"
#include "tests/support/shuffling_host.h"

using namespace axle::detect;
using axle::testing::RecordedHost;
using axle::testing::ShufflingHost;

namespace {

void add_amd(RecordedHost& host, int node, const std::string& address, int bus, int gfx) {
  const std::string folder = "/sys/class/kfd/kfd/topology/nodes/" + std::to_string(node);
  const std::string minor = std::to_string(127 + node);
  host.plug(address, 0x1002, 0x744C, "amdgpu");
  host.files[folder + "/gpu_id"] = "4711\n";
  host.files[folder + "/properties"] =
      "simd_count 96\nvendor_id 4098\ndevice_id 29772\nlocation_id " + std::to_string(bus << 8) +
      "\ndomain 0\ndrm_render_minor " + minor + "\ngfx_target_version " + std::to_string(gfx) +
      "\n";
}

/// Something of everything, much of it broken.
RecordedHost zoo() {
  RecordedHost host;
  host.plug("0000:65:00.0", 0x10DE, 0x2B85, "nvidia");
  host.plug("0000:66:00.0", 0x10DE, 0x1E04, "nvidia");
  host.plug("0000:67:00.0", 0x10DE, 0x1E04, "vfio-pci");
  for (const char* node : {"/dev/nvidiactl", "/dev/nvidia0", "/dev/nvidia1", "/dev/nvidia-uvm"})
    host.add_node(node);
  host.say(GpuVendor::nvidia,
           "cuda.version\t12080\nnvml.init\t0\nnvml.count\t2\n"
           "nvml.device\t0\t12.0\t0000:65:00.0\t5\tGPU-a\tRTX 5090\n"
           "nvml.device\t1\t7.5\t0000:66:00.0\t4\tGPU-b\tRTX 2080 Ti\n");
  add_amd(host, 1, "0000:c1:00.0", 0xC1, 110000);
  add_amd(host, 2, "0000:c2:00.0", 0xC2, 110000);
  add_amd(host, 3, "0000:0a:00.0", 0x0A, 100306);
  host.add_node("/dev/kfd");
  host.files["/dev/dri/renderD128"] = "";
  host.refused.insert("/dev/dri/renderD129");
  host.files["/dev/dri/renderD130"] = "";
  host.files["/opt/rocm-6.3.0/.info/version"] = "6.3.0-1\n";
  host.files["/opt/rocm-6.4.0/.info/version"] = "6.4.0-2\n";
  host.plug("0000:03:00.0", 0x8086, 0xE20B, "xe");
  host.plug("0000:04:00.0", 0x8086, 0x56A0, "vfio-pci");
  host.plug("0000:05:00.0", 0x8086, 0x5690, "");
  host.plug("0000:00:02.0", 0x8086, 0x4680, "i915");
  host.files["/sys/bus/pci/devices/0000:03:00.0/drm/renderD131/dev"] = "";
  host.add_node("/dev/dri/renderD131");
  host.files["/usr/lib64/libze_intel_gpu.so.1"] = "";
  host.say(GpuVendor::intel,
           "ze.init\t0\nze.api\t65539\n"
           "ze.device\t0\t32902\t57867\t83902464\t0000:03:00.0\t1\t0\tB580\n"
           "ze.device\t1\t32902\t18048\t50364416\t0000:00:02.0\t1\t1\tUHD 770\n");
  const auto accelerator = [&](const std::string& address, const std::string& id) {
    host.files["/sys/bus/pci/devices/" + address + "/modalias"] =
        "pci:" + id + "sv00000000sd00000000bc12sc00i00\n";
  };
  accelerator("0000:00:05.0", "v00001AE0d00000063");
  accelerator("0000:00:04.0", "v00001AE0d0000005E");
  accelerator("0000:00:0b.0", "v00008086d00007D1D");
  return host;
}

}  // namespace

TEST_CASE("the order of the bus, of folders and of the drivers' lists does not show") {
  RecordedHost host = zoo();
  const Machine expected = probe_machine(host);
  CHECK(expected.gpus.size() == 10);
  CHECK(expected.npus.size() == 3);
  CHECK(expected.problems.size() >= 5);
  for (unsigned seed = 0; seed < 200; ++seed) {
    ShufflingHost shuffling(host, seed);
    const Machine machine = probe_machine(shuffling);
    CAPTURE(seed);
    CHECK(machine.gpus == expected.gpus);
    CHECK(machine.npus == expected.npus);
    CHECK(machine.drivers == expected.drivers);
    CHECK(machine.problems == expected.problems);
  }
}
