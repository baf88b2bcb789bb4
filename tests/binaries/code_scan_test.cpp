// The decoder against binutils' objdump: where instructions begin, and what they require.
#include "binaries/code_scan.h"

#include <cstdlib>
#include <fstream>
#include <iterator>
#include <map>
#include <set>
#include <vector>

#include <doctest/doctest.h>

#include "binaries/instruction_scan.h"
#include "binaries/x86_instructions.h"
#include "tests/support/scratch.h"

namespace axle::builder {
namespace {

using namespace testing;
using detect::Capability;

bool has_objdump() {
  return output_of("uname -m") == "x86_64\n" &&
         std::system("objdump --version > /dev/null 2>&1") == 0;
}

std::string contents(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

/// Without what the two tell apart in different ways: AVX2 by width, AVX-512VL by registers, and
/// masks, which alone are no evidence for the other one.
std::string names_of(const binaries::InstructionScan& scan) {
  std::set<std::string> names;
  for (const auto& [capability, count] : scan.counts) {
    if (capability != Capability::avx2 && capability != Capability::avx512vl)
      names.emplace(detect::plain_name(detect::row(capability)));
  }
  std::string text;
  for (const std::string& name : names) text += name + ' ';
  return text;
}

/// The bytes that the assembler makes of one instruction.
std::string assembled(const Scratch& scratch, const std::string& line) {
  scratch.write("a.s", line + "\n");
  output_of("as -o " + scratch.at("a.o") + " " + scratch.at("a.s") + " 2>&1");
  output_of("objcopy -O binary -j .text " + scratch.at("a.o") + " " + scratch.at("a.bin"));
  return contents(scratch.at("a.bin"));
}

}  // namespace

TEST_CASE("code: instructions by their bytes") {
  const auto is = [](std::string_view bytes, unsigned length, std::size_t capability) {
    INFO(length);
    const auto one = binaries::read_x86_instruction(bytes);
    CHECK(one.valid);
    CHECK(one.length == length);
    CHECK(one.capability == capability);
  };
  const auto of = [](Capability capability) { return static_cast<std::size_t>(capability); };
  using namespace std::string_view_literals;
  is("\x90", 1, detect::capability_count);
  is("\x48\x89\xC3", 3, detect::capability_count);
  is("\x48\xB8\x01\x02\x03\x04\x05\x06\x07\x08", 10, detect::capability_count);
  is("\x66\xB8\x01\x02", 4, detect::capability_count);
  is("\xF7\x05\0\0\0\0\x01\0\0\0"sv, 10, detect::capability_count);
  is("\xF3\x48\x0F\xB8\xC0", 5, of(Capability::popcnt));
  is("\xF3\x0F\xBC\xC0", 4, detect::capability_count);  // TZCNT, on older ones REP BSF
  is("\xC5\xF8\x77", 3, of(Capability::avx));
  is("\xC4\xE2\x7D\x18\x05\0\0\0\0"sv, 9, of(Capability::avx));
  is("\x62\xF1\x7C\x48\x58\xC0", 6, of(Capability::avx512f));
  is("\x62\xF1\x7C\x28\x58\xC0", 6, of(Capability::avx512vl));
  CHECK(binaries::read_x86_instruction("\x0F\xA2").asks_cpu);
  CHECK(binaries::read_x86_instruction("\x0F\x01\xD0").asks_cpu);
  for (const std::string_view cut : {"\x0F"sv, "\xC4\xE2"sv, "\x48\xB8\x01"sv, "\x62"sv, "\x66"sv})
    CHECK_FALSE(binaries::read_x86_instruction(cut).valid);
  CHECK_FALSE(binaries::read_x86_instruction("\x06").valid);
  CHECK_FALSE(binaries::read_x86_instruction(std::string(20, '\x66')).valid);
}

TEST_CASE("code: each mnemonic of the table, as the assembler encodes it") {
  if (!has_objdump()) {
    MESSAGE("skipped: needs x86-64 and binutils");
    return;
  }
  const Scratch scratch;
  const std::map<std::string, Capability> lines = {
      {"vpdpbusd %zmm1,%zmm2,%zmm3", Capability::avx512_vnni},
      {"{vex} vpdpbusd %ymm1,%ymm2,%ymm3", Capability::avx_vnni},
      {"vpmadd52luq %zmm1,%zmm2,%zmm3", Capability::avx512ifma},
      {"vpermb %zmm1,%zmm2,%zmm3", Capability::avx512vbmi},
      {"vpcompressb %zmm1,%zmm2", Capability::avx512_vbmi2},
      {"vpopcntb %zmm1,%zmm2", Capability::avx512_bitalg},
      {"vpopcntq %zmm1,%zmm2", Capability::avx512_vpopcntdq},
      {"vdpbf16ps %zmm1,%zmm2,%zmm3", Capability::avx512_bf16},
      {"vaddph %zmm1,%zmm2,%zmm3", Capability::avx512_fp16},
      {"vfmadd231ph %zmm1,%zmm2,%zmm3", Capability::avx512_fp16},
      {"vpconflictd %zmm1,%zmm2", Capability::avx512cd},
      {"vpmullq %zmm1,%zmm2,%zmm3", Capability::avx512dq},
      {"vpaddb %zmm1,%zmm2,%zmm3", Capability::avx512bw},
      {"vp2intersectd %zmm1,%zmm2,%k2", Capability::avx512_vp2intersect},
      {"vfmadd231ps %ymm1,%ymm2,%ymm3", Capability::fma},
      {"vcvtph2ps %xmm1,%ymm2", Capability::f16c},
      {"vpbroadcastb %xmm1,%ymm2", Capability::avx2},
      {"vpaddd %ymm1,%ymm2,%ymm3", Capability::avx2},
      {"vaddps %ymm1,%ymm2,%ymm3", Capability::avx},
      {"andn %rax,%rbx,%rcx", Capability::bmi1},
      {"blsr %rax,%rbx", Capability::bmi1},
      {"mulx %rax,%rbx,%rcx", Capability::bmi2},
      {"shlx %rax,%rbx,%rcx", Capability::bmi2},
      {"rorx $3,%rax,%rbx", Capability::bmi2},
      {"pext %rax,%rbx,%rcx", Capability::bmi2},
      {"lzcnt %rax,%rbx", Capability::abm},
      {"movbe (%rax),%rbx", Capability::movbe},
      {"pshufb %xmm1,%xmm2", Capability::ssse3},
      {"pmulld %xmm1,%xmm2", Capability::sse4_1},
      {"pcmpgtq %xmm1,%xmm2", Capability::sse4_2},
      {"crc32b %al,%ebx", Capability::sse4_2},
      {"addsubps %xmm1,%xmm2", Capability::sse3},
      {"aesenc %xmm1,%xmm2", Capability::aes},
      {"vaesenc %ymm1,%ymm2,%ymm3", Capability::vaes},
      {"pclmulqdq $0,%xmm1,%xmm2", Capability::pclmulqdq},
      {"vpclmulqdq $0,%zmm1,%zmm2,%zmm3", Capability::vpclmulqdq},
      {"gf2p8mulb %xmm1,%xmm2", Capability::gfni},
      {"sha256rnds2 %xmm0,%xmm1,%xmm2", Capability::sha_ni},
      {"adcx %rax,%rbx", Capability::adx},
      {"cmpxchg16b (%rax)", Capability::cx16},
      {"rdrand %rax", Capability::rdrand},
      {"rdseed %rax", Capability::rdseed},
      {"clwb (%rax)", Capability::clwb},
      {"clflushopt (%rax)", Capability::clflushopt},
      {"xsavec (%rax)", Capability::xsavec},
      {"xsaveopt (%rax)", Capability::xsaveopt},
      {"rdfsbase %rax", Capability::fsgsbase},
      {"movdiri %rax,(%rbx)", Capability::movdiri},
      {"movdir64b (%rax),%rbx", Capability::movdir64b},
      {"tdpbssd %tmm0,%tmm1,%tmm2", Capability::amx_int8},
      {"tdpbf16ps %tmm0,%tmm1,%tmm2", Capability::amx_bf16},
      {"tileloadd (%rax,%rbx),%tmm0", Capability::amx_tile},
      {"ldtilecfg (%rax)", Capability::amx_tile},
      {"vfmaddps %xmm1,%xmm2,%xmm3,%xmm4", Capability::fma4},
      {"vpcmov %xmm1,%xmm2,%xmm3,%xmm4", Capability::xop},
      {"blcfill %rax,%rbx", Capability::tbm},
      {"serialize", Capability::serialize},
      {"rdpkru", Capability::pku},
      {"umwait %eax", Capability::waitpkg},
      {"cldemote (%rax)", Capability::cldemote},
  };
  for (const auto& [line, capability] : lines) {
    const std::string bytes = assembled(scratch, line);
    CAPTURE(line);
    REQUIRE_FALSE(bytes.empty());
    const auto one = binaries::read_x86_instruction(bytes);
    CHECK(one.valid);
    CHECK(one.length == bytes.size());
    CHECK(one.capability == static_cast<std::size_t>(capability));
  }
}

TEST_CASE("code: what objdump finds in libraries is found") {
  if (!has_objdump()) {
    MESSAGE("skipped: needs x86-64 and objdump");
    return;
  }
  const Scratch scratch;
  scratch.write("f.c",
                "void f(float* p, float* q, int n) { for (int i = 0; i < n; ++i) p[i] += q[i] * "
                "3.0f; }\n"
                "int g(const signed char* p, int n) { int s = 0; for (int i = 0; i < n; ++i) s += "
                "p[i] * p[i + n]; return s; }\n");
  std::vector<std::string> paths;
  for (const std::string march : {"x86-64", "x86-64-v3", "x86-64-v4", "icelake-server"}) {
    paths.push_back(scratch.at("f-" + march + ".so"));
    output_of("cc -shared -fPIC -O3 -mprefer-vector-width=512 -march=" + march + " -o " +
              paths.back() + " " + scratch.at("f.c"));
  }
  for (const std::string system : {"libm.so.6", "libstdc++.so.6"}) {
    const std::string path = "/usr/lib/x86_64-linux-gnu/" + system;
    if (std::ifstream(path)) paths.push_back(path);
  }
  for (const std::string& path : paths) {
    CAPTURE(path);
    const auto expected = binaries::scan_instructions(path, detect::Arch::x86_64);
    const auto found = binaries::scan_code(contents(path), path, 2);
    REQUIRE(expected.has_value());
    REQUIRE(found.has_value());
    CHECK(names_of(*found) == names_of(*expected));
    CHECK(found->complete);
  }
}

TEST_CASE("code: data that looks like code does not count, and a question for the CPU does") {
  if (!has_objdump()) {
    MESSAGE("skipped: needs x86-64 and binutils");
    return;
  }
  const Scratch scratch;
  const auto scanned = [&](const std::string& assembly) {
    scratch.write("d.s", "  .text\n  .globl f\n  .type f,@function\nf:\n" + assembly +
                             "\n  ret\n  .section .note.GNU-stack,\"\",@progbits\n");
    output_of("cc -shared -nostdlib -o " + scratch.at("d.so") + " " + scratch.at("d.s"));
    auto found = binaries::scan_code(contents(scratch.at("d.so")), "d.so");
    REQUIRE(found.has_value());
    return std::move(*found);
  };
  const auto plain = scanned("  vaddps %zmm0,%zmm1,%zmm2");
  CHECK(plain.counts.contains(Capability::avx512f));
  CHECK(plain.first.at(Capability::avx512f).render() == "function f of .text");
  CHECK_FALSE(plain.asks_cpu);
  CHECK(scanned("  .byte 0x06,0x0e\n  vaddps %zmm0,%zmm1,%zmm2").counts.empty());
  CHECK(scanned("  cpuid").asks_cpu);
}

TEST_CASE("code: pieces that several threads read add up to the whole, and lies end") {
  if (!has_objdump()) {
    MESSAGE("skipped: needs x86-64");
    return;
  }
  const Scratch scratch;
  // 40 MB of the same instructions: three pieces, none of which begins where one of them does.
  scratch.write("l.s",
                "  .text\n  .rept 4000000\n  vaddps %zmm0,%zmm1,%zmm2\n  mov $1,%eax\n  .endr\n"
                "  .section .note.GNU-stack,\"\",@progbits\n");
  output_of("cc -shared -nostdlib -o " + scratch.at("l.so") + " " + scratch.at("l.s"));
  const std::string file = contents(scratch.at("l.so"));
  const auto one = binaries::scan_code(file, "l.so", 1);
  const auto several = binaries::scan_code(file, "l.so", 3);
  REQUIRE(one.has_value());
  REQUIRE(several.has_value());
  CHECK(one->counts == several->counts);
  CHECK(one->counts.at(Capability::avx512f) == 4'000'000);
  CHECK(binaries::scan_code(file.substr(0, 1000), "cut").error().kind == ErrorKind::malformed);
  CHECK(binaries::scan_code("no library", "text").error().kind == ErrorKind::malformed);
}

TEST_CASE("code: of an aarch64 library, as its objdump reads it") {
  if (std::system("aarch64-linux-gnu-gcc --version > /dev/null 2>&1") != 0 ||
      std::system("aarch64-linux-gnu-objdump --version > /dev/null 2>&1") != 0) {
    MESSAGE("skipped: needs aarch64-linux-gnu-gcc and its objdump");
    return;
  }
  const Scratch scratch;
  scratch.write("f.c",
                "void f(float* p) { for (int i = 0; i < 4096; ++i) p[i] *= 3.0f; }\n"
                "int g(const signed char* p, const signed char* q, int n) { int s = 0; for (int i "
                "= 0; i < n; ++i) s += p[i] * q[i]; return s; }\n"
                "int h(int* p) { return __atomic_add_fetch(p, 1, __ATOMIC_SEQ_CST); }\n"
                "unsigned c(unsigned a, unsigned b) { return __builtin_aarch64_crc32w(a, b); }\n");
  for (const std::string march :
       {"armv8-a+crc", "armv8.2-a+dotprod+crc", "armv8.2-a+sve+crc", "armv8.6-a+crc"}) {
    const std::string path = scratch.at("f.so");
    output_of("aarch64-linux-gnu-gcc -shared -nostdlib -fPIC -O3 -march=" + march + " -o " + path +
              " " + scratch.at("f.c"));
    CAPTURE(march);
    const auto expected = binaries::scan_instructions(path, detect::Arch::aarch64);
    const auto found = binaries::scan_code(contents(path), path);
    REQUIRE(expected.has_value());
    REQUIRE(found.has_value());
    CHECK(names_of(*found) == names_of(*expected));
  }
}

}  // namespace axle::builder
