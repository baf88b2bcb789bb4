// The CPU namespaces: levels, versions, flags, and the sentences about them.

#include <algorithm>
#include <set>

#include <doctest/doctest.h>

#include "providers/arm_versions.h"
#include "providers/cpu_flags.h"
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
  return render_facts(find_provider(ns)->facts(machine, {}, feature, value));
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
        "the provider of x86_64 does not know the property x86_64 :: level :: v5");
  CHECK(fact("x86_64", machine, "avx2", "off") ==
        "the provider of x86_64 does not know the property x86_64 :: avx2 :: off");
  CHECK(fact("x86_64", arm_machine({}), "avx2", "on") == "the CPU is aarch64, not x86_64");
  Machine stated;
  stated.cpu.arch = Arch::x86_64;
  CHECK(fact("x86_64", stated, "avx2", "on") == "it is unknown whether the CPU has avx2");
  CHECK(fact("axle", machine, "amx_int8", "on") == "the CPU lacks amx_int8");
  CHECK(fact("axle", machine, "arm_sme2", "on") == "the CPU is x86_64, not aarch64");
}

TEST_CASE("x86_64: evidence of detection makes the sentence say why, and what to do") {
  using enum Capability;
  Machine machine = x86_machine(2);
  const auto set = [&](Capability capability, Presence presence, const char* evidence) {
    machine.cpu.capabilities.set(capability, presence);
    machine.cpu.sources[std::string(detect::row(capability).name)] = evidence;
  };
  set(amx_tile, Presence::unknown, "arch_prctl-refused");
  CHECK(fact("axle", machine, "amx_tile", "on") ==
        "the CPU has amx_tile, but it is unknown whether the kernel grants it: arch_prctl is "
        "denied (by a container's seccomp filter?)");
  set(amx_tile, Presence::blocked, "xcr0");
  CHECK(fact("axle", machine, "amx_tile", "on") ==
        "the CPU has amx_tile, but the kernel does not enable its registers (old kernel, "
        "hypervisor, or booted with noxsave or clearcpuid)");
  set(amx_tile, Presence::blocked, "arch_prctl");
  CHECK(fact("axle", machine, "amx_tile", "on") ==
        "the CPU has amx_tile, but the kernel does not grant it (Linux 5.16 or newer does)");
  machine = x86_machine(4);
  for (const Capability each : {avx512f, avx512bw}) set(each, Presence::blocked, "other-cores");
  CHECK(fact("x86_64", machine, "level", "v4") ==
        "some of the CPU's cores lack avx512f and avx512bw (level v4)");
  // What is absent is worse news than what is withheld.
  machine.cpu.capabilities.set(avx512cd, Presence::absent);
  CHECK(fact("x86_64", machine, "level", "v4") == "the CPU lacks avx512cd (level v4)");
  // A source that is not evidence changes nothing.
  set(avx2, Presence::blocked, "cpuid");
  CHECK(fact("x86_64", machine, "avx2", "on") == "the CPU has avx2, but the kernel withholds it");
}

TEST_CASE(
    "what programs cannot rely on is reported once per reason, and an old kernel is not a reason") {
  using enum Capability;
  Machine machine = x86_machine(4);
  const auto set = [&](Capability capability, Presence presence, const char* evidence) {
    machine.cpu.capabilities.set(capability, presence);
    machine.cpu.sources[std::string(detect::row(capability).name)] = evidence;
  };
  CHECK(withheld_capabilities(machine.cpu).empty());
  set(amx_tile, Presence::unknown, "arch_prctl-refused");
  set(amx_int8, Presence::unknown, "arch_prctl-refused");
  set(fsgsbase, Presence::blocked, "auxv");
  set(ibrs_enhanced, Presence::present, "sysfs");
  set(arm_lsfe, Presence::unknown, "auxv-without-word");
  const Facts withheld = withheld_capabilities(machine.cpu);
  CHECK(withheld == Facts{{FactCode::not_allowed, "CPU", {"fsgsbase"}, {}, "auxv"},
                          {FactCode::handing_out_unknown,
                           "CPU",
                           {"amx_tile", "amx_int8"},
                           {},
                           "arch_prctl-refused"}});
  CHECK(render_fact(withheld.at(0)) ==
        "the CPU has fsgsbase, but the kernel does not enable it (Linux 5.9 or newer does)");
  CHECK(render_fact(withheld.at(1)) ==
        "the CPU has amx_tile and amx_int8, but it is unknown whether the kernel grants it: "
        "arch_prctl is denied (by a container's seccomp filter?)");
  // What is present needs no excuse, whatever stands in its source.
  set(fsgsbase, Presence::present, "auxv");
  CHECK(withheld_capabilities(machine.cpu).size() == 1);
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
  CHECK(names(supported("axle", n1)) ==
        Values{"arm_asimdrdm", "arm_atomics", "arm_version", "arm_version_strict"});

  const Machine v2 = arm_machine({arm_fp,     arm_asimd,   arm_crc32,  arm_atomics, arm_asimdrdm,
                                  arm_dcpop,  arm_jscvt,   arm_fcma,   arm_lrcpc,   arm_paca,
                                  arm_pacg,   arm_asimddp, arm_uscat,  arm_ilrcpc,  arm_flagm,
                                  arm_flagm2, arm_frint,   arm_dcpodp, arm_sve,     arm_sve2});
  CHECK(supported("aarch64", v2).at(0).values ==
        Values{"9.0a", "8.5a", "8.4a", "8.3a", "8.2a", "8.1a", "8a"});
}

TEST_CASE("axle: Arm versions to 9.2a, hidden features on trust and strictly") {
  using enum Capability;
  // Neoverse V2 as a kernel without pointer authentication shows it: 8.2 for the published chain.
  Machine v2 = arm_machine({arm_fp,     arm_asimd,  arm_crc32, arm_atomics, arm_asimdrdm,
                            arm_dcpop,  arm_jscvt,  arm_fcma,  arm_lrcpc,   arm_asimddp,
                            arm_uscat,  arm_ilrcpc, arm_flagm, arm_flagm2,  arm_frint,
                            arm_dcpodp, arm_i8mm,   arm_bf16,  arm_sve,     arm_sve2});
  CHECK(supported("aarch64", v2).at(0).values == Values{"8.2a", "8.1a", "8a"});
  const auto versions = [&](std::string_view name) {
    for (const Feature& feature : supported("axle", v2)) {
      if (feature.name == name) return feature.values;
    }
    return Values{};
  };
  CHECK(versions("arm_version") ==
        Values{"9.1a", "9.0a", "8.6a", "8.5a", "8.4a", "8.3a", "8.2a", "8.1a", "8a"});
  CHECK(versions("arm_version_strict") == Values{"8.2a", "8.1a", "8a"});
  CHECK(fact("axle", v2, "arm_version", "8.6a") == "the CPU is Armv9.1a");
  CHECK(fact("axle", v2, "arm_version", "9.2a") == "the CPU lacks wfxt and afp (version 9.2a)");
  CHECK(fact("axle", v2, "arm_version_strict", "8.3a") ==
        "the CPU lacks paca and pacg (version 8.3a)");
  CHECK(fact("axle", v2, "arm_version", "10a") ==
        "the provider of axle does not know the property axle :: arm_version :: 10a");
  CHECK(fact("axle", x86_machine(1), "arm_version", "8a") == "the CPU is x86_64, not aarch64");
  for (const Capability each : {arm_paca, arm_pacg, arm_dit, arm_sb, arm_ssbs, arm_bti}) {
    v2.cpu.capabilities.set(each, Presence::present);
  }
  CHECK(versions("arm_version_strict") == versions("arm_version"));
  CHECK(supported("aarch64", v2).at(0).values.front() == "9.0a");
  for (const Capability each : {arm_wfxt, arm_afp, arm_mops, arm_hbc, arm_cssc}) {
    v2.cpu.capabilities.set(each, Presence::present);
  }
  CHECK(versions("arm_version").front() == "9.2a");
  CHECK(versions("arm_version").size() == 13);
  // SVE2 is what 9.0 adds to 8.5: without it the newest of the 8 line holds.
  v2.cpu.capabilities.set(arm_sve2, Presence::absent);
  CHECK(versions("arm_version").front() == "8.9a");
}

TEST_CASE("axle: features of Power, RISC-V and Z, newest first") {
  using enum Capability;
  const auto machine_of = [](Arch arch, std::initializer_list<Capability> capabilities) {
    Machine machine = arm_machine(capabilities);
    machine.cpu.arch = arch;
    return machine;
  };
  const Machine power10 =
      machine_of(Arch::ppc64le, {power_vsx, power_arch_2_07, power_arch_3_1, power_mma});
  CHECK(names(supported("axle", power10)) ==
        Values{"power_mma", "power_arch_3_1", "power_arch_2_07", "power_vsx"});
  CHECK(fact("axle", power10, "power_dfp", "on") == "the CPU lacks dfp");
  CHECK(fact("axle", power10, "riscv_v", "on") == "the CPU is ppc64le, not riscv64");
  CHECK(supported("x86_64", power10).empty());
  CHECK(supported("aarch64", power10).empty());
  CHECK(names(supported("axle", machine_of(Arch::riscv64, {riscv_ima, riscv_v, riscv_zvfh}))) ==
        Values{"riscv_zvfh", "riscv_v", "riscv_ima"});
  CHECK(names(supported("axle", machine_of(Arch::s390x, {s390_vx, s390_vxe2}))) ==
        Values{"s390_vxe2", "s390_vx"});
  Machine x60 = machine_of(Arch::riscv64, {});
  x60.cpu.capabilities.set(riscv_v, Presence::unknown);
  CHECK(supported("axle", x60).empty());
  CHECK(fact("axle", x60, "riscv_v", "on") == "it is unknown whether the CPU has v");
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
    for (const Arch arch :
         {Arch::x86_64, Arch::aarch64, Arch::ppc64le, Arch::riscv64, Arch::s390x}) {
      machine.cpu.arch = arch;
      for (const detect::CapabilityRow& row : detect::capabilities()) {
        machine.cpu.capabilities.set(row.id, Presence::present);
      }
      for (const Feature& feature : provider->all()) {
        if (feature.name == "level" || feature.name == "version") continue;
        if (is_arm_version_feature(feature.name)) continue;
        if (feature.values != Values{"on"} || is_gpu_code_feature(feature.name)) continue;
        const Features held = provider->supported(machine, {});
        if (held.empty()) continue;
        const auto row = detect::find_capability(feature.name);
        const bool other_arch =
            std::string_view(ns) == "axle" && row && detect::row(*row).arch != arch;
        CHECK_MESSAGE((std::ranges::count(held, feature) == 1) != other_arch, feature.name);
      }
    }
  }
}

}  // namespace
}  // namespace axle::providers
