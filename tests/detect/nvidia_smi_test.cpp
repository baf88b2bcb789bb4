#include "detect/nvidia/nvidia_smi.h"

#include <doctest/doctest.h>

#include "tests/detect/nvidia_machine.h"

using namespace axle::detect;
using namespace axle::testing;

namespace {

const std::string two_gpus =
    "0, 550.54.14, 9.0, 00000000:65:00.0, 81559, GPU-aaaa, 0x233010DE, Disabled, NVIDIA H100 80GB "
    "HBM3\n"
    "1, 550.54.14, 7.5, 00000000:66:00.0, 15360, GPU-bbbb, 0x1EB810DE, [N/A], Tesla T4, rev 2\r\n";

}  // namespace

TEST_CASE("what nvidia-smi lists") {
  const NvidiaTool tool = parse_nvidia_smi(two_gpus);
  CHECK(tool.driver_version == "550.54.14");
  REQUIRE(tool.devices.size() == 2);
  CHECK(tool.devices[0].capability == "9.0");
  CHECK(tool.devices[0].pci_address == "0000:65:00.0");
  CHECK(tool.devices[0].memory == 81559ULL * 1024 * 1024);
  CHECK(tool.devices[0].uuid == "GPU-aaaa");
  CHECK(tool.devices[0].pci_id == "10de:2330");
  CHECK(tool.devices[0].name == "NVIDIA H100 80GB HBM3");
  CHECK_FALSE(tool.devices[0].mig);
  CHECK(tool.devices[1].name == "Tesla T4, rev 2");
  CHECK(parse_nvidia_smi("0, 550.54.14, 9.0, 00000000:65:00.0, [N/A], , , Enabled, x")
            .devices.at(0)
            .mig);
}

TEST_CASE("what nvidia-smi says instead of a list") {
  for (const char* text :
       {"", "\n\n", "No devices were found\n",
        "Field \"compute_cap\" is not a valid field to query.\n",
        "NVIDIA-SMI has failed because it couldn't communicate with the NVIDIA driver.\n",
        "-1, 550.54.14, 9.0, 00000000:65:00.0, 1, a, b, c, d\n",
        "0, new, 9.0, 0000:65:00.0, 1, a, b, c, d\n",
        "0, 550.54.14, 9.0, nowhere, 1, a, b, c, d\n"}) {
    CAPTURE(text);
    CHECK(parse_nvidia_smi(text).devices.empty());
  }
  const NvidiaTool odd =
      parse_nvidia_smi("0, 550.54.14, -9.0, 0:65:00.0, 99999999999999, a, 0x0, c, d\x1b[31m\n");
  REQUIRE(odd.devices.size() == 1);
  CHECK(odd.devices[0].capability.empty());
  CHECK(odd.devices[0].memory == 0);
  CHECK(odd.devices[0].pci_id.empty());
  CHECK(odd.devices[0].name == "d?[31m");
}

TEST_CASE("a GPU that only nvidia-smi reported names it as the source") {
  RecordedHost host = healthy_nvidia();
  host.say(GpuVendor::nvidia,
           "nvml.by\tnvidia-smi\nnvml.init\t0\nnvml.driver\t550.54.14\nnvml.count\t1\n" + h100);
  const Machine machine = probe_machine(host);
  CHECK(machine.gpus.at(0).usable == Presence::present);
  CHECK(machine.gpus.at(0).sources.at("arch") == "nvidia-smi");
  CHECK(nvidia_driver_of(machine).api_version == "12.4");
  CHECK(nvidia_driver_of(machine).api_source == "driver-table");
  CHECK(nvidia_driver_of(machine).sources.at("library_version") == "nvidia-smi");
  CHECK(machine.problems.empty());
}
