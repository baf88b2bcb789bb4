#include "binaries/instruction_scan.h"

#include <cstdlib>

#include <doctest/doctest.h>

#include "binaries/binary_scan.h"
#include "binaries/instruction_classes.h"
#include "tests/support/scratch.h"

namespace axle::builder {
namespace {

using namespace testing;

TEST_CASE("instructions: mnemonics betray capabilities, encodings tell them apart") {
  using detect::Capability;
  const auto is = [](std::string_view line, Capability capability) {
    INFO(line);
    CHECK(axle::binaries::capability_of_instruction(line, detect::Arch::x86_64) ==
          static_cast<std::size_t>(capability));
  };
  is("vpdpbusd %ymm1,%ymm2,%ymm3", Capability::avx_vnni);
  is("vpdpbusd %zmm1,%zmm2,%zmm3", Capability::avx512_vnni);
  is("vpdpbusd %ymm17,%ymm2,%ymm3", Capability::avx512_vnni);
  is("vaddps %zmm1,%zmm2,%zmm3", Capability::avx512f);
  is("vfmadd231ps %ymm1,%ymm2,%ymm3", Capability::fma);
  is("tdpbssd %tmm0,%tmm1,%tmm2", Capability::amx_int8);
  is("popcnt %rax,%rbx", Capability::popcnt);
  is("vpxor  %xmm0,%xmm0,%xmm0", Capability::avx);
  is("vcvtsi2sd %eax,%xmm1,%xmm0", Capability::avx);
  CHECK(axle::binaries::capability_of_instruction("mov    %rax,%rbx", detect::Arch::x86_64) ==
        detect::capability_count);
  CHECK(axle::binaries::capability_of_instruction("tzcnt  %rax,%rbx", detect::Arch::x86_64) ==
        detect::capability_count);
  CHECK(axle::binaries::capability_of_instruction("", detect::Arch::x86_64) ==
        detect::capability_count);
}

TEST_CASE("instructions: a library's are counted where there is an objdump") {
  if (output_of("uname -m") != "x86_64\n" ||
      std::system("objdump --version > /dev/null 2>&1") != 0) {
    MESSAGE("skipped: needs x86-64 and objdump");
    return;
  }
  const Scratch scratch;
  scratch.write("f.c",
                "__attribute__((target(\"avx512f\"))) void f(float* p) {\n"
                "  for (int i = 0; i < 4096; ++i) p[i] *= 3.0f;\n}\n");
  output_of("cc -shared -fPIC -O3 -mprefer-vector-width=512 -o " + scratch.at("f.so") + " " +
            scratch.at("f.c"));
  const auto found = axle::binaries::scan_instructions(scratch.at("f.so"), detect::Arch::x86_64);
  REQUIRE(found.has_value());
  CHECK(found->complete);
  CHECK(found->counts.contains(detect::Capability::avx512f));
  CHECK_FALSE(found->asks_cpu);
  CHECK_FALSE(found->counts.contains(detect::Capability::amx_tile));
  CHECK(axle::binaries::scan_instructions(scratch.at("f.so"), detect::Arch::x86_64,
                                          {std::chrono::seconds(60), 10})
            .error()
            .kind == ErrorKind::unsupported);
}

TEST_CASE("instructions: a question for the CPU that another library answers is seen") {
  const Scratch scratch;
  const auto asks = [&](const std::string& code) {
    scratch.write("f.c", code);
    output_of("cc -shared -fPIC -nostdlib -o " + scratch.at("f.so") + " " + scratch.at("f.c"));
    const auto facts = axle::binaries::scan_binary_file(scratch.at("f.so"));
    REQUIRE(facts.has_value());
    return facts->names_cpu_question;
  };
  CHECK(asks("extern int __cpu_model[]; int f(void) { return __cpu_model[0]; }"));
  CHECK(asks("int av_get_cpu_flags(void); int f(void) { return av_get_cpu_flags(); }"));
  CHECK_FALSE(asks("int compute(void); int f(void) { return compute(); }"));
}

TEST_CASE("instructions: a question for the CPU is seen") {
  using detect::Arch;
  CHECK(axle::binaries::asks_for_cpu("cpuid", Arch::x86_64));
  CHECK(axle::binaries::asks_for_cpu("xgetbv", Arch::x86_64));
  CHECK(axle::binaries::asks_for_cpu("call   <getauxval@plt>", Arch::x86_64));
  CHECK_FALSE(axle::binaries::asks_for_cpu("call   <compute>", Arch::x86_64));
  CHECK(axle::binaries::asks_for_cpu("mrs\tx0, id_aa64isar0_el1", Arch::aarch64));
  CHECK(axle::binaries::asks_for_cpu("bl\t<getauxval@plt>", Arch::aarch64));
  CHECK_FALSE(axle::binaries::asks_for_cpu("mrs\tx0, tpidr_el0", Arch::aarch64));
}

TEST_CASE("instructions: Arm's by mnemonic and register") {
  using detect::Capability;
  const auto is = [](std::string_view line, std::size_t capability) {
    INFO(line);
    CHECK(axle::binaries::capability_of_instruction(line, detect::Arch::aarch64) == capability);
  };
  const auto of = [](Capability capability) { return static_cast<std::size_t>(capability); };
  is("sdot\tv0.4s, v1.16b, v2.16b", of(Capability::arm_asimddp));
  is("sdot\tz0.s, z1.b, z2.b", of(Capability::arm_sve));
  is("smmla\tv0.4s, v1.16b, v2.16b", of(Capability::arm_i8mm));
  is("bfdot\tv0.4s, v1.8h, v2.8h", of(Capability::arm_bf16));
  is("ld1w\t{z0.s}, p0/z, [x0]", of(Capability::arm_sve));
  is("whilelo\tp0.s, xzr, x1", of(Capability::arm_sve));
  is("ld1w\t{za0h.s[w12, 0]}, p0/z, [x0]", of(Capability::arm_sme));
  is("fmopa\tza0.s, p0/m, p0/m, z0.s, z1.s", of(Capability::arm_sme));
  is("casal\tw0, w1, [x2]", of(Capability::arm_atomics));
  is("ldaddalb\tw0, w1, [x2]", of(Capability::arm_atomics));
  is("add\tx0, x1, x2", detect::capability_count);
  is("bl\t<za_helper>", detect::capability_count);
  is("fmla\tv0.4s, v1.4s, v2.4s", detect::capability_count);
}

TEST_CASE("instructions: of an aarch64 library, cross-compiled") {
  if (std::system("aarch64-linux-gnu-gcc --version > /dev/null 2>&1") != 0 ||
      std::system("aarch64-linux-gnu-objdump --version > /dev/null 2>&1") != 0) {
    MESSAGE("skipped: needs aarch64-linux-gnu-gcc and its objdump");
    return;
  }
  const Scratch scratch;
  scratch.write("f.c",
                "void f(float* p) { for (int i = 0; i < 4096; ++i) p[i] *= 3.0f; }\n"
                "int g(int* p) { return __atomic_add_fetch(p, 1, __ATOMIC_SEQ_CST); }\n");
  const auto scan = [&](const std::string& flags) {
    output_of("aarch64-linux-gnu-gcc -shared -fPIC -O3 -nostdlib " + flags + " -o " +
              scratch.at("f.so") + " " + scratch.at("f.c"));
    const auto found = axle::binaries::scan_instructions(scratch.at("f.so"), detect::Arch::aarch64);
    REQUIRE_MESSAGE(found.has_value(), found.error().message);
    CHECK(found->complete);
    return found->counts;
  };
  const auto sve = scan("-march=armv8.2-a+sve");
  CHECK(sve.contains(detect::Capability::arm_sve));
  CHECK(sve.contains(detect::Capability::arm_atomics));
  CHECK(scan("-march=armv8-a -mno-outline-atomics").empty());
}

}  // namespace
}  // namespace axle::builder
