// The CPU namespaces: levels, versions, flags, and the sentences about them.

#include <algorithm>
#include <set>

#include <doctest/doctest.h>

#include "providers/cuda_code.h"
#include "providers/provider.h"
#include "tests/providers/machines.h"

namespace axle::providers {
namespace {

using detect::Arch;
using detect::Capability;
using detect::Machine;
using detect::Presence;
using testing::x86_machine;

using Values = std::vector<std::string>;

Features supported(std::string_view ns, const Machine& machine) {
  return find_provider(ns)->supported(machine, {});
}

std::string fact(std::string_view ns, const Machine& machine, std::string_view feature,
                 std::string_view value) {
  return find_provider(ns)->fact(machine, {}, feature, value);
}

Values names(const Features& features) {
  Values result;
  for (const Feature& feature : features) result.push_back(feature.name);
  return result;
}

Machine arm_machine(std::initializer_list<Capability> capabilities) {
  Machine machine;
  machine.cpu.arch = Arch::aarch64;
  for (const detect::CapabilityRow& row : detect::capabilities()) {
    machine.cpu.capabilities.set(row.id, Presence::absent);
  }
  for (const Capability capability : capabilities) {
    machine.cpu.capabilities.set(capability, Presence::present);
  }
  return machine;
}

TEST_CASE("x86_64: each psABI level brings all lower ones") {
  CHECK(supported("x86_64", x86_machine(1)).at(0) == Feature{"level", false, {"v1"}});
  CHECK(supported("x86_64", x86_machine(2)).at(0).values == Values{"v2", "v1"});
  CHECK(supported("x86_64", x86_machine(3)).at(0).values == Values{"v3", "v2", "v1"});
  CHECK(supported("x86_64", x86_machine(4)).at(0).values == Values{"v4", "v3", "v2", "v1"});
}

TEST_CASE("x86_64: a plain v4 machine has exactly the flags of its level, in the published order") {
  CHECK(names(supported("x86_64", x86_machine(4))) ==
        Values{"level", "avx512bw", "avx512cd", "avx512dq", "avx512f", "avx512vl",
               "avx2",  "avx",      "bmi2",     "bmi1",     "abm",     "f16c",
               "fma",   "movbe",    "sse4_2",   "sse4_1",   "ssse3",   "sse3",
               "cx16",  "lahf_lm",  "popcnt",   "sse2",     "sse",     "mmx"});
}

TEST_CASE("x86_64: one missing capability takes its level and all above") {
  for (unsigned level = 1; level <= 4; ++level) {
    for (const Capability capability : detect::x86_64_level(level)) {
      for (const Presence presence : {Presence::unknown, Presence::absent, Presence::blocked}) {
        Machine machine = x86_machine(4);
        machine.cpu.capabilities.set(capability, presence);
        const Features features = supported("x86_64", machine);
        const bool has_levels = !features.empty() && features[0].name == "level";
        CHECK((has_levels ? features[0].values.size() : 0) == level - 1);
      }
    }
  }
}

TEST_CASE("x86_64: AVX2 without the kernel's YMM state is level v2") {
  Machine machine = x86_machine(3);
  for (const detect::CapabilityRow& row : detect::capabilities()) {
    if (row.os_state == detect::OsState::ymm && machine.cpu.capabilities.has(row.id)) {
      machine.cpu.capabilities.set(row.id, Presence::blocked);
    }
  }
  CHECK(supported("x86_64", machine).at(0).values == Values{"v2", "v1"});
  CHECK(fact("x86_64", machine, "avx2", "on") == "the CPU has avx2, but the kernel withholds it");
  CHECK(fact("x86_64", machine, "level", "v3") ==
        "the CPU has avx, avx2, f16c and fma, but the kernel withholds them (level v3)");
}

TEST_CASE("x86_64: sentences for people") {
  const Machine machine = x86_machine(2);
  CHECK(fact("x86_64", machine, "avx512_vnni", "on") == "the CPU lacks avx512_vnni");
  CHECK(fact("x86_64", machine, "sse3", "on") == "the CPU has sse3");
  CHECK(fact("x86_64", machine, "level", "v2") == "the CPU has level v2");
  CHECK(fact("x86_64", machine, "level", "v1") == "the CPU has level v2");
  CHECK(fact("x86_64", machine, "level", "v3") ==
        "the CPU lacks avx, avx2, bmi1, bmi2 and 5 more (level v3)");
  CHECK(fact("x86_64", machine, "level", "v5") ==
        "the provider of x86_64 knows no property x86_64 :: level :: v5");
  CHECK(fact("x86_64", machine, "avx2", "off") ==
        "the provider of x86_64 knows no property x86_64 :: avx2 :: off");
  CHECK(fact("x86_64", arm_machine({}), "avx2", "on") == "the CPU is aarch64, not x86_64");
  Machine stated;
  stated.cpu.arch = Arch::x86_64;
  CHECK(fact("x86_64", stated, "avx2", "on") == "it is not known whether the CPU has avx2");
  CHECK(fact("axle", machine, "amx_int8", "on") == "the CPU lacks amx_int8");
  CHECK(fact("axle", machine, "arm_sme2", "on") == "the CPU is x86_64, not aarch64");
}

TEST_CASE("aarch64: versions need what they make mandatory") {
  using enum Capability;
  CHECK(supported("aarch64", arm_machine({arm_fp, arm_asimd})).at(0).values == Values{"8a"});
  const Machine n1 = arm_machine({arm_fp, arm_asimd, arm_crc32, arm_atomics, arm_asimdrdm,
                                  arm_dcpop, arm_lrcpc, arm_asimddp, arm_aes});
  CHECK(supported("aarch64", n1).at(0) == Feature{"version", false, {"8.2a", "8.1a", "8a"}});
  CHECK(names(supported("aarch64", n1)) ==
        Values{"version", "asimddp", "lrcpc", "dcpop", "aes", "asimd", "crc32", "fp"});
  CHECK(fact("aarch64", n1, "version", "8.4a") ==
        "the CPU lacks jscvt, fcma, paca, pacg and 3 more (version 8.4a)");
  CHECK(fact("aarch64", n1, "version", "8.1a") == "the CPU is Armv8.2a");
  CHECK(fact("aarch64", n1, "i8mm", "on") == "the CPU lacks i8mm");
  CHECK(names(supported("axle", n1)) == Values{"arm_asimdrdm", "arm_atomics"});

  const Machine v2 = arm_machine({arm_fp,     arm_asimd,   arm_crc32,  arm_atomics, arm_asimdrdm,
                                  arm_dcpop,  arm_jscvt,   arm_fcma,   arm_lrcpc,   arm_paca,
                                  arm_pacg,   arm_asimddp, arm_uscat,  arm_ilrcpc,  arm_flagm,
                                  arm_flagm2, arm_frint,   arm_dcpodp, arm_sve,     arm_sve2});
  CHECK(supported("aarch64", v2).at(0).values ==
        Values{"9.0a", "8.5a", "8.4a", "8.3a", "8.2a", "8.1a", "8a"});
}

TEST_CASE("axle: tile extensions first, as the capability table has them") {
  const Features all = find_provider("axle")->all();
  REQUIRE(all.size() > 8);
  CHECK(Values{all[0].name, all[1].name, all[2].name, all[3].name, all[4].name} ==
        Values{"amx_tile", "amx_int8", "amx_bf16", "amx_fp16", "amx_complex"});
  const Values known = names(all);
  for (const char* name : {"avx512_fp16", "avx10_1", "avx_vnni_int8", "apx_f", "arm_atomics",
                           "arm_asimdrdm", "arm_bti", "arm_ecv", "arm_sme", "arm_sme2"}) {
    CHECK_MESSAGE(std::ranges::count(known, name) == 1, name);
  }
}

TEST_CASE("every property of the capability table is a property of exactly one provider") {
  for (const detect::CapabilityRow& row : detect::capabilities()) {
    if (row.property.empty()) continue;
    std::size_t providers = 0;
    for (const Provider& provider : builtin_providers()) {
      for (const Feature& feature : provider.all()) {
        for (const std::string& value : feature.values) {
          const std::string property =
              std::string(provider.ns) + " :: " + feature.name + " :: " + value;
          if (property == row.property) ++providers;
        }
      }
    }
    CHECK_MESSAGE(providers == 1, row.property);
  }
}

TEST_CASE("every flag of the CPU providers is read from a row of the capability table") {
  for (const char* ns : {"x86_64", "aarch64", "axle"}) {
    const Provider* provider = find_provider(ns);
    Machine machine;
    for (const Arch arch : {Arch::x86_64, Arch::aarch64}) {
      machine.cpu.arch = arch;
      for (const detect::CapabilityRow& row : detect::capabilities()) {
        machine.cpu.capabilities.set(row.id, Presence::present);
      }
      for (const Feature& feature : provider->all()) {
        if (feature.name == "level" || feature.name == "version") continue;
        if (is_gpu_code_feature(feature.name)) continue;
        const Features held = provider->supported(machine, {});
        if (held.empty()) continue;
        const bool other_arch = std::string_view(ns) == "axle" &&
                                feature.name.starts_with("arm_") != (arch == Arch::aarch64);
        CHECK_MESSAGE((std::ranges::count(held, feature) == 1) != other_arch, feature.name);
      }
    }
  }
}

}  // namespace
}  // namespace axle::providers
