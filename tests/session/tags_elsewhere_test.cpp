// The tags of an interpreter on another machine.
#include <algorithm>
#include <string>
#include <string_view>

#include <doctest/doctest.h>

#include "session/target/target.h"

namespace {

using namespace axle;

wheel::TagTarget here() {
  wheel::TagTarget tags;
  tags.python_minor = 12;
  tags.abis = {"cp312"};
  tags.architecture = "x86_64";
  tags.libc_family = "glibc";
  tags.libc_major = 2;
  tags.libc_minor = 36;
  return tags;
}

bool fits(const detect::Machine& machine, std::string_view platform) {
  const auto tags = wheel::parse_tags("cp312-cp312-" + std::string(platform));
  REQUIRE(tags);
  return wheel::supported_tags(session::tags_elsewhere(here(), machine)).best_index(*tags) !=
         wheel::SupportedTags::npos;
}

}  // namespace

TEST_CASE("what a machine says nothing of stays as it is here") {
  detect::Machine machine;
  machine.cpu.arch = detect::Arch::x86_64;
  CHECK(fits(machine, "manylinux_2_36_x86_64"));
  CHECK_FALSE(fits(machine, "win_amd64"));
}

TEST_CASE("architecture and C library are those of the machine") {
  detect::Machine machine;
  machine.cpu.arch = detect::Arch::aarch64;
  CHECK(fits(machine, "manylinux_2_36_aarch64"));
  CHECK_FALSE(fits(machine, "manylinux_2_36_x86_64"));
  machine.libc.family = "musl";
  machine.libc.major = 1;
  machine.libc.minor = 2;
  CHECK(fits(machine, "musllinux_1_2_aarch64"));
  CHECK_FALSE(fits(machine, "manylinux_2_36_aarch64"));
}

TEST_CASE("another system has its own platforms, and no C library of Linux") {
  detect::Machine machine;
  machine.cpu.arch = detect::Arch::x86_64;
  machine.os.system = "Windows";
  CHECK(fits(machine, "win_amd64"));
  CHECK_FALSE(fits(machine, "manylinux_2_17_x86_64"));
  CHECK_FALSE(fits(machine, "linux_x86_64"));
  CHECK(session::tags_elsewhere(here(), machine).libc_family.empty());
}
