#include "detect/pci_bus.h"

#include <doctest/doctest.h>

#include "tests/support/recorded_host.h"

using namespace axle::detect;
using axle::testing::RecordedHost;

TEST_CASE("modalias carries vendor, device and class") {
  CHECK(parse_modalias("pci:v000010DEd00002330sv000010DEsd000016C1bc03sc02i00\n") ==
        PciId{0x10DE, 0x2330, 0x03});
  CHECK_FALSE(parse_modalias("").has_value());
  CHECK_FALSE(parse_modalias("usb:v1D6Bp0002d0601dc09").has_value());
  CHECK_FALSE(parse_modalias("pci:v000010DEd00002330").has_value());
  CHECK_FALSE(parse_modalias("pci:v000010DEd0000233Gsv000010DEsd000016C1bc03").has_value());
}

TEST_CASE("only display devices of the three vendors are seen, in the order of the bus") {
  RecordedHost host;
  host.plug("0000:c1:00.0", 0x1002, 0x74A1, "amdgpu");
  host.plug("0000:65:00.0", 0x10DE, 0x2330, "nvidia");
  host.plug("0000:00:02.0", 0x8086, 0xE20B, "");
  host.plug("0000:01:00.0", 0x1A03, 0x2000, "ast");
  host.files["/sys/bus/pci/devices/0000:00:1f.0/modalias"] =
      "pci:v00008086d00001234sv00000000sd00000000bc06sc01i00\n";
  const auto devices = read_pci_bus(host).displays;
  REQUIRE(devices.size() == 3);
  CHECK(devices[0].vendor == GpuVendor::intel);
  CHECK(devices[0].driver.empty());
  CHECK(devices[1].address == "0000:65:00.0");
  CHECK(devices[1].driver == "nvidia");
  CHECK(devices[2].device == 0x74A1);
  CHECK(render_pci_id(devices[2]) == "1002:74a1");
}

TEST_CASE("accelerators that are no display devices are seen by their class or id") {
  RecordedHost host;
  const auto add = [&](const std::string& address, const std::string& id) {
    host.files["/sys/bus/pci/devices/" + address + "/modalias"] = "pci:" + id + "\n";
  };
  add("0000:c1:00.0", "v00001002d000074A1sv00000000sd00000000bc12sc00i00");  // MI300X
  add("0000:01:00.0", "v000019E5d0000D802sv00000000sd00000000bc12sc00i00");
  add("0000:00:0b.0", "v00008086d00007D1Dsv00000000sd00000000bc12sc00i00");
  add("0000:00:05.0", "v00001AE0d00000063sv00000000sd00000000bc08sc80i00");
  add("0000:00:06.0", "v00001AE0d00000042sv00000000sd00000000bc02sc00i00");  // Google's NIC
  add("0000:02:00.0", "v000017CBd0000A100sv00000000sd00000000bc12sc00i00");
  add("0000:03:00.0", "v000019E5d00000222sv00000000sd00000000bc02sc00i00");  // Huawei's NIC
  const PciBus bus = read_pci_bus(host);
  REQUIRE(bus.displays.size() == 1);
  CHECK(bus.displays[0].vendor == GpuVendor::amd);
  REQUIRE(bus.accelerators.size() == 4);
  CHECK(bus.accelerators[0].kind == NpuKind::tpu);
  CHECK(bus.accelerators[1].kind == NpuKind::intel_npu);
  CHECK(bus.accelerators[2].kind == NpuKind::ascend);
  CHECK(bus.accelerators[3].kind == NpuKind::qualcomm);
  CHECK(render_pci_id(bus.accelerators[1]) == "8086:7d1d");
}
