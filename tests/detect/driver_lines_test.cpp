#include "detect/drivers/driver_lines.h"

#include <doctest/doctest.h>

using namespace axle::detect;

TEST_CASE("a line is a word and fields apart by tabs") {
  const auto lines = parse_driver_lines("cuda.version\t12080\nstep\tcuInit\t\tx\n\ndone\n");
  REQUIRE(lines.size() == 3);
  CHECK(lines[0] == DriverLine{"cuda.version", {"12080"}});
  CHECK(lines[1].field(1).empty());
  CHECK(lines[1].field(2) == "x");
  CHECK(lines[1].field(3).empty());
  CHECK(lines[2].fields.empty());
}

TEST_CASE("a line that was truncated by a crash does not count") {
  const auto lines = parse_driver_lines("cuda.version\t12080\nnvml.count\t1");
  CHECK(lines.size() == 1);
}

TEST_CASE("what a driver says is bounded and printable") {
  CHECK(sanitise("NVIDIA\x1b[2J\xff") == "NVIDIA?[2J?");
  CHECK(sanitise(std::string(1000, 'x')).size() == 128);
  std::string many;
  for (int i = 0; i < 10000; ++i) many += "x\n";
  CHECK(parse_driver_lines(many).size() == 4096);
  CHECK(parse_driver_lines(std::string(1000, '\t') + "\n").front().fields.size() == 16);
}

TEST_CASE("integers are whole, decimal or hexadecimal") {
  CHECK(parse_integer("12080") == 12080);
  CHECK(parse_integer("-1") == -1);
  CHECK(parse_integer("0x10de") == 0x10DE);
  CHECK_FALSE(parse_integer("").has_value());
  CHECK_FALSE(parse_integer("0x").has_value());
  CHECK_FALSE(parse_integer("0x-1").has_value());
  CHECK_FALSE(parse_integer("12 ").has_value());
  CHECK_FALSE(parse_integer("99999999999999999999").has_value());
}

TEST_CASE("PCI addresses are written as sysfs writes them") {
  CHECK(normalise_pci_address("00000000:65:00.0") == "0000:65:00.0");
  CHECK(normalise_pci_address("0000:C1:1F.7") == "0000:c1:1f.7");
  CHECK(normalise_pci_address("10000:e1:00.0") == "10000:e1:00.0");
  for (const char* wrong : {"", "65:00.0", "0000:65:00", "0000:65:20.0", "0000:65:00.8", "x:y:z.0",
                            "0000:165:00.0", "0000::00.0", "000000000:65:00.0", "0000:65:00.0 "}) {
    CAPTURE(wrong);
    CHECK(normalise_pci_address(wrong).empty());
  }
}
