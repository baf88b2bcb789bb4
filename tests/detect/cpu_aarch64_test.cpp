#include <doctest/doctest.h>

#include "detect/cpu/aarch64.h"
#include "detect/cpu/arm_cores.h"
#include "detect/probe.h"
#include "tests/support/recorded_host.h"

using namespace axle::detect;
using axle::testing::RecordedHost;

namespace {

RecordedHost arm() {
  RecordedHost host;
  host.architecture = Arch::aarch64;
  host.name.machine = "aarch64";
  host.auxiliary_values = {{16, 0}, {26, 0}};
  return host;
}

}  // namespace

TEST_CASE("each ARM capability is read from its own bit of its own word") {
  for (const CapabilityRow& each : capabilities()) {
    if (each.arch != Arch::aarch64) continue;
    CAPTURE(each.name);
    RecordedHost host = arm();
    host.give(each.id);
    Cpu cpu;
    probe_aarch64(host, cpu);
    for (const CapabilityRow& other : capabilities()) {
      CAPTURE(other.name);
      CHECK(cpu.capabilities.has(other.id) == (other.id == each.id));
    }
  }
}

TEST_CASE("a machine with SVE but not SVE2") {
  RecordedHost host = arm();
  // Written out as the kernel gives them: fp to pacg without sm3, sm4 and ssbs, then dcpodp,
  // svei8mm, svebf16, i8mm, bf16, dgh, rng.
  host.auxiliary_values[16] = 0xEFF3FFFF;
  host.auxiliary_values[26] = 0x1F201;
  host.sve_bytes = 32;
  host.files["/sys/devices/system/cpu/cpu0/regs/identification/midr_el1"] = "0x00000000411fd401\n";
  const Machine machine = probe_machine(host);
  CHECK(machine.cpu.arch == Arch::aarch64);
  CHECK(machine.cpu.vendor == "0x41");
  CHECK(machine.cpu.sve_vector_bytes == 32U);
  CHECK(machine.cpu.capabilities.has(Capability::arm_sve));
  CHECK(machine.cpu.capabilities.has(Capability::arm_i8mm));
  CHECK(machine.cpu.capabilities.has(Capability::arm_bf16));
  CHECK(machine.cpu.capabilities.of(Capability::arm_sve2) == Presence::absent);
  CHECK(machine.cpu.capabilities.of(Capability::arm_sm4) == Presence::absent);
  CHECK(machine.cpu.capabilities.of(Capability::avx2) == Presence::unknown);
  CHECK(machine.cpu.model == "0xd40");
  CHECK(machine.cpu.brand == "Arm Neoverse-V1");
  CHECK(machine.cpu.sources.at("brand") == "midr");
  CHECK(machine.cpu.sources.at("sve_vector_bytes") == "prctl");
}

TEST_CASE("an old kernel that gives no second word leaves it unknown") {
  RecordedHost host = arm();
  host.auxiliary_values.erase(26);
  host.give(Capability::arm_asimd);
  host.auxiliary_values.erase(26);
  Cpu cpu;
  probe_aarch64(host, cpu);
  CHECK(cpu.capabilities.has(Capability::arm_asimd));
  CHECK(cpu.capabilities.of(Capability::arm_i8mm) == Presence::unknown);
}

TEST_CASE("the SVE length is only asked where there is SVE") {
  RecordedHost host = arm();
  host.sve_bytes = 16;
  Cpu cpu;
  probe_aarch64(host, cpu);
  CHECK_FALSE(cpu.sve_vector_bytes.has_value());
}

TEST_CASE("cores without a known name get their implementer's") {
  CHECK(find_arm_core("0x41", "0xd0c") == "Arm Neoverse-N1");
  CHECK(find_arm_core("0x41", "0xfff") == "Arm");
  CHECK(find_arm_core("0x51", "0x001") == "Qualcomm");
  CHECK(find_arm_core("0xff", "0xd0c").empty());
  CHECK(find_arm_core("", "").empty());
}

TEST_CASE("SVE and SME lengths are asked where there is SVE or SME, and a refusal is told") {
  RecordedHost host = arm();
  host.give(Capability::arm_sve);
  host.give(Capability::arm_sme);
  host.sme_bytes = 64;
  Cpu cpu;
  probe_aarch64(host, cpu);
  CHECK_FALSE(cpu.sve_vector_bytes.has_value());
  CHECK(cpu.sources.at("sve_vector_bytes") == "prctl-refused");
  CHECK(cpu.sme_vector_bytes == 64U);
}

TEST_CASE("a kernel without AT_HWCAP3 leaves its rows unknown, with the reason") {
  RecordedHost host = arm();
  Cpu cpu;
  probe_aarch64(host, cpu);
  CHECK(cpu.capabilities.of(Capability::arm_lsfe) == Presence::unknown);
  CHECK(cpu.sources.at("arm_lsfe") == "auxv-without-word");
  CHECK(cpu.capabilities.of(Capability::arm_sme2p2) == Presence::absent);
}

TEST_CASE("a kernel that does not show MIDR_EL1 leaves the names unknown, with the reason") {
  RecordedHost host = arm();
  Cpu cpu;
  probe_aarch64(host, cpu);
  CHECK(cpu.vendor.empty());
  CHECK(cpu.brand.empty());
  for (const char* fact : {"vendor", "model", "brand"}) {
    CHECK(cpu.sources.at(fact) == "midr-unreadable");
  }
}

TEST_CASE("implementers and parts in MIDR_EL1") {
  CHECK(parse_midr("0x00000000410fd4f0\n") == MidrNames{"0x41", "0xd4f"});
  CHECK(parse_midr("0x00000000c00fac30") == MidrNames{"0xc0", "0xac3"});
  CHECK(parse_midr("0x00000000460f0010") == MidrNames{"0x46", "0x001"});
  CHECK(parse_midr("") == MidrNames{});
  CHECK(parse_midr("410fd4f0") == MidrNames{});
}
