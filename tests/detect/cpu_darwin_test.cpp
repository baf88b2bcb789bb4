// Macs as `sysctl -a` shows them.
#include <doctest/doctest.h>

#include "detect/cpu/aarch64_versions.h"
#include "detect/cpu/darwin.h"
#include "detect/probe.h"
#include "tests/support/recorded_host.h"

using namespace axle::detect;
using axle::testing::RecordedHost;

namespace {

RecordedHost mac(Arch program, const char* release) {
  RecordedHost host;
  host.architecture = program;
  host.name = {"Darwin", release, program == Arch::x86_64 ? "x86_64" : "arm64"};
  host.glibc = "";
  return host;
}

void switch_on(RecordedHost& host, std::initializer_list<const char*> names) {
  for (const char* name : names) host.sysctls[std::string("hw.optional.") + name] = "1";
}

/// Values of an Apple M4 Max under macOS 15, as archspec publishes them (tests/targets,
/// darwin-sequoia-m4).
RecordedHost m4() {
  RecordedHost host = mac(Arch::aarch64, "24.3.0");
  switch_on(host, {"floatingpoint",       "neon",
                   "arm.AdvSIMD",         "arm.FEAT_CRC32",
                   "arm.FEAT_FlagM",      "arm.FEAT_FlagM2",
                   "arm.FEAT_FHM",        "arm.FEAT_DotProd",
                   "arm.FEAT_SHA3",       "arm.FEAT_RDM",
                   "arm.FEAT_LSE",        "arm.FEAT_SHA256",
                   "arm.FEAT_SHA512",     "arm.FEAT_SHA1",
                   "arm.FEAT_AES",        "arm.FEAT_PMULL",
                   "arm.FEAT_SB",         "arm.FEAT_FRINTTS",
                   "arm.FEAT_LRCPC",      "arm.FEAT_LRCPC2",
                   "arm.FEAT_FCMA",       "arm.FEAT_JSCVT",
                   "arm.FEAT_PAuth",      "arm.FEAT_DPB",
                   "arm.FEAT_DPB2",       "arm.FEAT_BF16",
                   "arm.FEAT_I8MM",       "arm.FEAT_WFxT",
                   "arm.FEAT_RPRES",      "arm.FEAT_ECV",
                   "arm.FEAT_AFP",        "arm.FEAT_LSE2",
                   "arm.FEAT_DIT",        "arm.FEAT_FP16",
                   "arm.FEAT_BTI",        "arm.FEAT_SME",
                   "arm.FEAT_SME2",       "arm.SME_F32F32",
                   "arm.SME_BI32I32",     "arm.SME_B16F32",
                   "arm.SME_F16F32",      "arm.SME_I8I32",
                   "arm.SME_I16I32",      "arm.FEAT_SME_F64F64",
                   "arm.FEAT_SME_I16I64", "arm64"});
  for (const char* off : {"EBF16", "CSSC", "HBC", "SSBS"}) {
    host.sysctls[std::string("hw.optional.arm.FEAT_") + off] = "0";
  }
  host.sysctls["hw.optional.arm.sme_max_svl_b"] = "64";
  host.sysctls["hw.cpufamily"] = "399882554";
  host.sysctls["machdep.cpu.brand_string"] = "Apple M4 Max";
  host.sysctls["kern.osproductversion"] = "15.3";
  host.cpus = 16;
  return host;
}

Machine probe(RecordedHost& host) { return probe_machine(host, {.gpus = false}); }

}  // namespace

TEST_CASE("an M4 is Armv8.7 with SME2 of 64 bytes and no SVE") {
  RecordedHost host = m4();
  // As `sysctl -n` prints it.
  for (auto& [name, value] : host.sysctls) value += '\n';
  const Machine machine = probe(host);
  const Cpu& cpu = machine.cpu;
  CHECK(cpu.arch == Arch::aarch64);
  CHECK(cpu.machine == "arm64");
  CHECK(cpu.vendor == "0x61");
  CHECK(cpu.brand == "Apple M4 Max");
  CHECK(cpu.model == "0x17d5b93a");
  CHECK(cpu.logical_cpus == 16);
  CHECK(cpu.hypervisor.empty());
  CHECK(cpu.sources.at("capabilities") == "sysctl");
  CHECK(held_aarch64_architectures(cpu.capabilities, VersionRule::soft).front() == "8.7a");
  CHECK(held_aarch64_architectures(cpu.capabilities, VersionRule::strict).front() == "8.4a");
  for (const Capability each :
       {Capability::arm_i8mm, Capability::arm_bf16, Capability::arm_asimddp, Capability::arm_fphp,
        Capability::arm_asimdhp, Capability::arm_sme2, Capability::arm_smef64f64,
        Capability::arm_smei8i32, Capability::arm_smebi32i32}) {
    CAPTURE(row(each).name);
    CHECK(cpu.capabilities.has(each));
  }
  CHECK(cpu.sme_vector_bytes == 64U);
  CHECK(cpu.sources.at("sme_vector_bytes") == "sysctl");
  CHECK_FALSE(cpu.sve_vector_bytes.has_value());
  CHECK_FALSE(cpu.capabilities.has(Capability::arm_sve));
  CHECK(cpu.capabilities.of(Capability::arm_ssbs) == Presence::absent);
  CHECK(cpu.capabilities.of(Capability::arm_cssc) == Presence::absent);
  CHECK(machine.os.system == "Darwin");
  CHECK(machine.os.name == "macOS 15.3");
  CHECK(machine.libc.family.empty());
}

TEST_CASE("an M1 under an old macOS tells some features by their first names") {
  RecordedHost host = mac(Arch::aarch64, "20.6.0");
  switch_on(host, {"floatingpoint", "neon", "neon_fp16", "armv8_crc32", "armv8_1_atomics",
                   "armv8_2_fhm", "armv8_2_sha512", "armv8_2_sha3", "armv8_3_compnum", "arm64"});
  const Cpu cpu = probe(host).cpu;
  for (const Capability each :
       {Capability::arm_asimd, Capability::arm_fphp, Capability::arm_crc32, Capability::arm_atomics,
        Capability::arm_asimdfhm, Capability::arm_sha512, Capability::arm_sha3,
        Capability::arm_fcma}) {
    CAPTURE(row(each).name);
    CHECK(cpu.capabilities.has(each));
  }
  // Not told is not absent.
  CHECK(cpu.capabilities.of(Capability::arm_asimddp) == Presence::unknown);
  CHECK(cpu.sources.at("arm_asimddp") == "sysctl-without-name");
  CHECK(held_aarch64_architectures(cpu.capabilities, VersionRule::soft).front() == "8a");
}

TEST_CASE("the family of a processor has 32 bits, which sysctl prints with a sign") {
  for (const auto& [told, model] :
       {std::pair("-634136515", "0xda33d83d"),  // an M2
        std::pair("458787763", "0x1b588bb3"), std::pair("3660830781", "0xda33d83d"),
        std::pair("x", ""), std::pair("4294967296", ""), std::pair("-2147483649", "")}) {
    RecordedHost host = m4();
    host.sysctls["hw.cpufamily"] = told;
    CHECK(probe(host).cpu.model == model);
  }
}

TEST_CASE("MPS is of Apple's processors, with macOS 12.3 or newer") {
  for (const auto& [version, usable, code] :
       {std::tuple("15.3", Presence::present, ""), std::tuple("12.3", Presence::present, ""),
        std::tuple("12.2.1", Presence::absent, "macos-too-old"),
        std::tuple("11.7", Presence::absent, "macos-too-old"),
        std::tuple("", Presence::unknown, "no-macos-version")}) {
    CAPTURE(version);
    RecordedHost host = m4();
    host.sysctls["kern.osproductversion"] = version;
    const auto mps = probe(host).mps;
    REQUIRE(mps.has_value());
    CHECK(mps->usable == usable);
    CHECK(mps->reason_code == code);
    CHECK(mps->reason.empty() == (usable == Presence::present));
  }
  RecordedHost intel = mac(Arch::x86_64, "24.3.0");
  intel.give_level(3);
  intel.sysctls["kern.osproductversion"] = "15.3";
  CHECK(probe(intel).mps->reason_code == "intel-mac");
  RecordedHost linux_host;
  linux_host.give_level(3);
  CHECK_FALSE(probe(linux_host).mps.has_value());
}

TEST_CASE("each name stands for its own features, and what is not a number for none") {
  RecordedHost whole = m4();
  const Cpu all = probe(whole).cpu;
  for (const auto& [name, value] : whole.sysctls) {
    if (!name.starts_with("hw.optional.arm.FEAT_") || value != "1") continue;
    CAPTURE(name);
    for (const char* other : {"0", "", "yes", "1 1", "-1", "99999999999999999999"}) {
      RecordedHost host = whole;
      host.sysctls[name] = other;
      const Cpu cpu = probe(host).cpu;
      unsigned gained = 0;
      unsigned lost = 0;
      for (const CapabilityRow& each : capabilities()) {
        const bool before = all.capabilities.has(each.id);
        const bool after = cpu.capabilities.has(each.id);
        gained += !before && after ? 1 : 0;
        lost += before && !after ? 1 : 0;
      }
      CHECK(gained == 0);
      CHECK(lost > 0);
    }
  }
}

TEST_CASE("a program that Rosetta translates runs on an aarch64") {
  RecordedHost host = m4();
  host.architecture = Arch::x86_64;
  host.name.machine = "x86_64";
  host.give_level(2);
  host.sysctls["sysctl.proc_translated"] = "1";
  const Cpu cpu = probe(host).cpu;
  CHECK(cpu.arch == Arch::aarch64);
  CHECK(cpu.hypervisor == "VirtualApple");
  CHECK(cpu.capabilities.has(Capability::arm_i8mm));
  CHECK(cpu.capabilities.of(Capability::sse4_2) == Presence::unknown);
}

TEST_CASE("an Intel Mac is read by CPUID, and its AVX-512 by sysctl: XCR0 has it only once used") {
  RecordedHost host = mac(Arch::x86_64, "21.3.0");
  host.give_level(4);
  host.xcr0_value = 0x7;
  CHECK(probe(host).cpu.capabilities.of(Capability::avx512f) == Presence::blocked);
  host.sysctls["hw.optional.avx512f"] = "1";
  CHECK(probe(host).cpu.capabilities.has(Capability::avx512f));
  CHECK(probe(host).cpu.capabilities.has(Capability::avx2));
  // Before macOS 12.2 signals overwrite the mask registers, whatever XCR0 says.
  for (const char* release : {"21.2.0", "20.6.0", "9", "", "x"}) {
    CAPTURE(release);
    host.name.release = release;
    host.xcr0_value = 0xE7;
    CHECK(probe(host).cpu.capabilities.of(Capability::avx512f) == Presence::blocked);
    CHECK(probe(host).cpu.capabilities.has(Capability::avx2));
  }
}

TEST_CASE("Linux is asked no sysctl") {
  class NoSysctl : public RecordedHost {
   public:
    std::optional<std::string> sysctl(const std::string& question) override {
      FAIL(question);
      return std::nullopt;
    }
  } host;
  host.give_level(4);
  host.xcr0_value = 0xE7;
  CHECK(probe(host).cpu.capabilities.has(Capability::avx512f));
}
