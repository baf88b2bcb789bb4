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
  const auto devices = read_display_devices(host);
  REQUIRE(devices.size() == 3);
  CHECK(devices[0].vendor == GpuVendor::intel);
  CHECK(devices[0].driver.empty());
  CHECK(devices[1].address == "0000:65:00.0");
  CHECK(devices[1].driver == "nvidia");
  CHECK(devices[2].device == 0x74A1);
}
