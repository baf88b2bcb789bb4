// Words that LLVM 19 assembles, and what each of these instructions requires.
#include "binaries/arm_instructions.h"

#include <cstdint>
#include <string>
#include <string_view>

#include <doctest/doctest.h>

namespace axle::builder {
namespace {

struct ArmWord {
  std::uint32_t word;
  std::string_view capability;  ///< without its prefix; empty: every aarch64 CPU has it
  std::string_view text;
};

// clang-format off
constexpr ArmWord arm_words[] = {
    {0x4E829420, "asimddp", "sdot v0.4s, v1.16b, v2.16b"},
    {0x2E829420, "asimddp", "udot v0.2s, v1.8b, v2.8b"},
    {0x4FA2E020, "asimddp", "sdot v0.4s, v1.16b, v2.4b[1]"},
    {0x6FBDEBDF, "asimddp", "udot v31.4s, v30.16b, v29.4b[3]"},
    {0x4E82A420, "i8mm", "smmla v0.4s, v1.16b, v2.16b"},
    {0x6E82A420, "i8mm", "ummla v0.4s, v1.16b, v2.16b"},
    {0x4E82AC20, "i8mm", "usmmla v0.4s, v1.16b, v2.16b"},
    {0x4E829C20, "i8mm", "usdot v0.4s, v1.16b, v2.16b"},
    {0x4F82F820, "i8mm", "usdot v0.4s, v1.16b, v2.4b[2]"},
    {0x4F02F820, "i8mm", "sudot v0.4s, v1.16b, v2.4b[2]"},
    {0x6E42FC20, "bf16", "bfdot v0.4s, v1.8h, v2.8h"},
    {0x4F62F820, "bf16", "bfdot v0.4s, v1.8h, v2.2h[3]"},
    {0x6E42EC20, "bf16", "bfmmla v0.4s, v1.8h, v2.8h"},
    {0x2EC2FC20, "bf16", "bfmlalb v0.4s, v1.8h, v2.8h"},
    {0x6EC2FC20, "bf16", "bfmlalt v0.4s, v1.8h, v2.8h"},
    {0x4FF2F820, "bf16", "bfmlalt v0.4s, v1.8h, v2.h[7]"},
    {0x1E634020, "bf16", "bfcvt h0, s1"},
    {0x0EA16820, "bf16", "bfcvtn v0.4h, v1.4s"},
    {0x4EA16820, "bf16", "bfcvtn2 v0.8h, v1.4s"},
    {0x88A07C41, "atomics", "cas w0, w1, [x2]"},
    {0xC8E0FC41, "atomics", "casal x0, x1, [x2]"},
    {0x08E07C41, "atomics", "casab w0, w1, [x2]"},
    {0x48207C82, "atomics", "casp x0, x1, x2, x3, [x4]"},
    {0xF8208041, "atomics", "swp x0, x1, [x2]"},
    {0xB8E08041, "atomics", "swpal w0, w1, [x2]"},
    {0xF8200041, "atomics", "ldadd x0, x1, [x2]"},
    {0xB8E00041, "atomics", "ldaddal w0, w1, [x2]"},
    {0x38E00041, "atomics", "ldaddalb w0, w1, [x2]"},
    {0xF8207041, "atomics", "ldumin x0, x1, [x2]"},
    {0xF820005F, "atomics", "stadd x0, [x2]"},
    {0x78203041, "atomics", "ldseth w0, w1, [x2]"},
    {0x1AC24020, "crc32", "crc32b w0, w1, w2"},
    {0x9AC25C20, "crc32", "crc32cx w0, w1, x2"},
    {0x4E284820, "aes", "aese v0.16b, v1.16b"},
    {0x4E286820, "aes", "aesmc v0.16b, v1.16b"},
    {0x5E020020, "sha1", "sha1c q0, s1, v2.4s"},
    {0x5E280820, "sha1", "sha1h s0, s1"},
    {0x5E023020, "sha1", "sha1su0 v0.4s, v1.4s, v2.4s"},
    {0x5E281820, "sha1", "sha1su1 v0.4s, v1.4s"},
    {0x5E024020, "sha2", "sha256h q0, q1, v2.4s"},
    {0x5E282820, "sha2", "sha256su0 v0.4s, v1.4s"},
    {0x5E026020, "sha2", "sha256su1 v0.4s, v1.4s, v2.4s"},
    {0xCE628020, "sha512", "sha512h q0, q1, v2.2d"},
    {0xCEC08020, "sha512", "sha512su0 v0.2d, v1.2d"},
    {0xCE628820, "sha512", "sha512su1 v0.2d, v1.2d, v2.2d"},
    {0xCE020C20, "sha3", "eor3 v0.16b, v1.16b, v2.16b, v3.16b"},
    {0xCE220C20, "sha3", "bcax v0.16b, v1.16b, v2.16b, v3.16b"},
    {0xCE628C20, "sha3", "rax1 v0.2d, v1.2d, v2.2d"},
    {0xCE820C20, "sha3", "xar v0.2d, v1.2d, v2.2d, #3"},
    {0xCE420C20, "sm3", "sm3ss1 v0.4s, v1.4s, v2.4s, v3.4s"},
    {0xCE429020, "sm3", "sm3tt1a v0.4s, v1.4s, v2.s[1]"},
    {0xCE62C020, "sm3", "sm3partw1 v0.4s, v1.4s, v2.4s"},
    {0xCE62C420, "sm3", "sm3partw2 v0.4s, v1.4s, v2.4s"},
    {0xCEC08420, "sm4", "sm4e v0.4s, v1.4s"},
    {0xCE62C820, "sm4", "sm4ekey v0.4s, v1.4s, v2.4s"},
    {0x6E828420, "asimdrdm", "sqrdmlah v0.4s, v1.4s, v2.4s"},
    {0x6E428C20, "asimdrdm", "sqrdmlsh v0.8h, v1.8h, v2.8h"},
    {0x6FA2D020, "asimdrdm", "sqrdmlah v0.4s, v1.4s, v2.s[1]"},
    {0x7E428420, "asimdrdm", "sqrdmlah h0, h1, h2"},
    {0x1E7E0020, "jscvt", "fjcvtzs w0, d1"},
    {0x6E82E420, "fcma", "fcadd v0.4s, v1.4s, v2.4s, #90"},
    {0x6E82D420, "fcma", "fcmla v0.4s, v1.4s, v2.4s, #180"},
    {0x6F827820, "fcma", "fcmla v0.4s, v1.4s, v2.s[1], #270"},
    {0xF8BFC020, "lrcpc", "ldapr x0, [x1]"},
    {0x38BFC020, "lrcpc", "ldaprb w0, [x1]"},
    {0xD9408020, "ilrcpc", "ldapur x0, [x1, #8]"},
    {0x19003020, "ilrcpc", "stlurb w0, [x1, #3]"},
    {0x4E22EC20, "asimdfhm", "fmlal v0.4s, v1.4h, v2.4h"},
    {0x6EA2CC20, "asimdfhm", "fmlsl2 v0.4s, v1.4h, v2.4h"},
    {0x4FB20020, "asimdfhm", "fmlal v0.4s, v1.4h, v2.h[3]"},
    {0xD500401F, "flagm", "cfinv"},
    {0xBA018404, "flagm", "rmif x0, #3, #4"},
    {0x3A00080D, "flagm", "setf8 w0"},
    {0xD500405F, "flagm2", "axflag"},
    {0xD500403F, "flagm2", "xaflag"},
    {0xD50330FF, "sb", "sb"},
    {0x9AC23020, "pacg", "pacga x0, x1, x2"},
    {0x6E21E820, "frint", "frint32x v0.4s, v1.4s"},
    {0x1E694020, "frint", "frint64z d0, d1"},
    {0x1E284020, "frint", "frint32z s0, s1"},
    {0x2518E3E0, "sve", "ptrue p0.b"},
    {0xA540A000, "sve", "ld1w {z0.s}, p0/z, [x0]"},
    {0x25A11FE0, "sve", "whilelo p0.s, xzr, x1"},
    {0x0420E3E0, "sve", "cntb x0"},
    {0x65A20020, "sve", "fmla z0.s, p0/m, z1.s, z2.s"},
    {0xD503477F, "sme", "smstart"},
    {0xD503467F, "sme", "smstop"},
    {0x80810000, "sme", "fmopa za0.s, p0/m, p0/m, z0.s, z1.s"},
    {0x9ADF1020, "mte", "irg x0, x1"},
    {0xD9200820, "mte", "stg x0, [x1]"},
    {0xD9600020, "mte", "ldg x0, [x1]"},
    {0xD5031000, "wfxt", "wfet x0"},
    {0xF83FD100, "ls64", "ld64b x0, [x8]"},
    {0x8B020020, "", "add x0, x1, x2"},
    {0x4E22CC20, "", "fmla v0.4s, v1.4s, v2.4s"},
    {0x3DC00000, "", "ldr q0, [x0]"},
    {0x78626820, "", "ldrh w0, [x1, x2]"},
    {0xC85F7C20, "", "ldxr x0, [x1]"},
    {0xC89FFC20, "", "stlr x0, [x1]"},
    {0xC8DFFC20, "", "ldar x0, [x1]"},
    {0xF8408020, "", "ldur x0, [x1, #8]"},
    {0x4EA29C20, "", "mul v0.4s, v1.4s, v2.4s"},
    {0x2E62C020, "", "umull v0.4s, v1.4h, v2.4h"},
    {0x4FA29020, "", "fmul v0.4s, v1.4s, v2.s[1]"},
    {0x6FA20020, "", "mla v0.4s, v1.4s, v2.s[1]"},
    {0x4EA2B420, "", "sqdmulh v0.4s, v1.4s, v2.4s"},
    {0x4E020020, "", "tbl v0.16b, {v1.16b}, v2.16b"},
    {0x94000000, "", "bl f"},
    {0xD65F03C0, "", "ret"},
    {0xD53BD040, "", "mrs x0, tpidr_el0"},
    {0xD5033BBF, "", "dmb ish"},
    {0x1E780020, "", "fcvtzs w0, d1"},
    {0x6E219820, "", "frintx v0.4s, v1.4s"},
    {0x1E664020, "", "frinta d0, d1"},
    {0x6EA28C20, "", "cmeq v0.4s, v1.4s, v2.4s"},
    {0x2E229C20, "", "pmul v0.8b, v1.8b, v2.8b"},
    {0x6E021820, "", "ext v0.16b, v1.16b, v2.16b, #3"},
    {0x4E0C1C20, "", "ins v0.s[1], w1"},
    {0x4F000420, "", "movi v0.4s, #1"},
    {0x1E6E1000, "", "fmov d0, #1.0"},
    {0x9A820020, "", "csel x0, x1, x2, eq"},
    {0x9AC20820, "", "udiv x0, x1, x2"},
    {0xDAC00020, "", "rbit x0, x1"},
    {0x9B020C20, "", "madd x0, x1, x2, x3"},
    {0xF9800000, "", "prfm pldl1keep, [x0]"},
    {0xAD400400, "", "ldp q0, q1, [x0]"},
    {0x4C007800, "", "st1 {v0.4s}, [x0]"},
    {0x4C400800, "", "ld4 {v0.4s, v1.4s, v2.4s, v3.4s}, [x0]"},
    {0x1E610400, "", "fccmp d0, d1, #0, eq"},
    {0x9E620020, "", "scvtf d0, x1"},
    {0x6E61F820, "frint", "frint64x v0.2d, v1.2d"},
    {0x0E21E820, "frint", "frint32z v0.2s, v1.2s"},
    {0x9AC21420, "mte", "gmi x0, x1, x2"},
    {0x91810420, "mte", "addg x0, x1, #16, #1"},
    {0xD1810420, "mte", "subg x0, x1, #16, #1"},
    {0xD9A00820, "mte", "st2g x0, [x1]"},
    {0x9AC20020, "", "subp x0, x1, x2"},
    {0x4EA19820, "", "frintz v0.4s, v1.4s"},
    {0x6EA1B820, "", "fcvtzu v0.4s, v1.4s"},
    {0x91004020, "", "add x0, x1, #16"},
    {0xD1004020, "", "sub x0, x1, #16"},
    {0x9AC22020, "", "lslv x0, x1, x2"},
};
// clang-format on

}  // namespace

TEST_CASE("arm: each of the table's instructions by its word") {
  for (const ArmWord& one : arm_words) {
    CAPTURE(one.text);
    const auto read = binaries::read_arm_instruction(one.word);
    const bool known = read.capability < detect::capability_count;
    const std::string found = known ? std::string(detect::plain_name(detect::row(
                                          static_cast<detect::Capability>(read.capability))))
                                    : std::string();
    CHECK(found == one.capability);
    CHECK_FALSE(read.asks_cpu);
  }
}

TEST_CASE("arm: reading an ID register asks for the CPU, reading another one does not") {
  CHECK(binaries::read_arm_instruction(0xD5380600).asks_cpu);        // mrs x0, id_aa64isar0_el1
  CHECK(binaries::read_arm_instruction(0xD5380400).asks_cpu);        // mrs x0, id_aa64pfr0_el1
  CHECK_FALSE(binaries::read_arm_instruction(0xD53BD040).asks_cpu);  // mrs x0, tpidr_el0
}

}  // namespace axle::builder
