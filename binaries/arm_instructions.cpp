#include "binaries/arm_instructions.h"

namespace axle::binaries {
namespace {

using detect::Capability;

struct Encoding {
  std::uint32_t mask;
  std::uint32_t value;
  Capability capability;
};

/// The first that fits counts. In the order of the groups (A64 top-level encodings, bits 28 to 25).
constexpr Encoding encodings[] = {
    // SME and SVE have groups of their own.
    {0x9E000000, 0x80000000, Capability::arm_sme},
    {0x1E000000, 0x04000000, Capability::arm_sve},
    {0xFFFFF0FF, 0xD503407F, Capability::arm_sme},  // SMSTART, SMSTOP
    // Branches and system.
    {0xFFFFFFFF, 0xD50330FF, Capability::arm_sb},
    {0xFFFFFFFF, 0xD500401F, Capability::arm_flagm},   // CFINV
    {0xFFFFFFFF, 0xD500403F, Capability::arm_flagm2},  // XAFLAG
    {0xFFFFFFFF, 0xD500405F, Capability::arm_flagm2},  // AXFLAG
    {0xFFFFFFE0, 0xD5031000, Capability::arm_wfxt},
    {0xFFFFFFE0, 0xD5031020, Capability::arm_wfxt},
    // Data processing of registers.
    {0x7FE0E000, 0x1AC04000, Capability::arm_crc32},
    {0xFFE0FC00, 0x9AC03000, Capability::arm_pacg},
    {0xFFE0F800, 0x9AC01000, Capability::arm_mte},    // IRG, GMI
    {0xBFC0C000, 0x91800000, Capability::arm_mte},    // ADDG, SUBG
    {0xFFE07C10, 0xBA000400, Capability::arm_flagm},  // RMIF
    {0xFFFFBC1F, 0x3A00080D, Capability::arm_flagm},  // SETF8, SETF16
    // Loads and stores.
    {0x3F207C00, 0x08207C00, Capability::arm_atomics},  // CASP, CAS
    {0x3FA07C00, 0x08A07C00, Capability::arm_atomics},
    {0x3FFFFC00, 0x38BFC000, Capability::arm_lrcpc},
    {0x3B20FC00, 0x38208000, Capability::arm_atomics},  // SWP
    {0x3B208C00, 0x38200000, Capability::arm_atomics},  // LDADD … LDUMIN
    {0x3F200C00, 0x19000000, Capability::arm_ilrcpc},
    {0xFFFFFC00, 0xF83F9000, Capability::arm_ls64},
    {0xFFFFFC00, 0xF83FD000, Capability::arm_ls64},
    {0xFF200C00, 0xD9200800, Capability::arm_mte},  // STG …
    {0xFF200C00, 0xD9200400, Capability::arm_mte},
    {0xFF200C00, 0xD9200C00, Capability::arm_mte},
    {0xFFE00C00, 0xD9600000, Capability::arm_mte},  // LDG
    // SIMD and floating point.
    {0xFF3E0C00, 0x4E280800, Capability::arm_aes},
    {0xFFE0FC00, 0x5E000000, Capability::arm_sha1},
    {0xFFE0FC00, 0x5E001000, Capability::arm_sha1},
    {0xFFE0FC00, 0x5E002000, Capability::arm_sha1},
    {0xFFE0FC00, 0x5E003000, Capability::arm_sha1},
    {0xFFE0CC00, 0x5E004000, Capability::arm_sha2},
    {0xFFFFEC00, 0x5E280800, Capability::arm_sha1},
    {0xFFFFFC00, 0x5E282800, Capability::arm_sha2},
    {0xFFE0F000, 0xCE608000, Capability::arm_sha512},  // with RAX1: see below
    {0xFFFFFC00, 0xCEC08000, Capability::arm_sha512},
    {0xFFC08000, 0xCE000000, Capability::arm_sha3},  // EOR3, BCAX
    {0xFFE00000, 0xCE800000, Capability::arm_sha3},  // XAR
    {0xFFE08000, 0xCE400000, Capability::arm_sm3},   // SM3SS1
    {0xFFE0C000, 0xCE408000, Capability::arm_sm3},   // SM3TT
    {0xFFE0F800, 0xCE60C000, Capability::arm_sm3},   // SM3PARTW
    {0xFFFFFC00, 0xCEC08400, Capability::arm_sm4},
    {0xFFE0FC00, 0xCE60C800, Capability::arm_sm4},
    {0xBFE0FC00, 0x0E809400, Capability::arm_asimddp},  // SDOT
    {0xBFE0FC00, 0x2E809400, Capability::arm_asimddp},  // UDOT
    {0xBFC0F400, 0x0F80E000, Capability::arm_asimddp},  // by element
    {0xBFC0F400, 0x2F80E000, Capability::arm_asimddp},
    {0xFFE0FC00, 0x4E80A400, Capability::arm_i8mm},  // SMMLA
    {0xFFE0FC00, 0x6E80A400, Capability::arm_i8mm},  // UMMLA
    {0xFFE0FC00, 0x4E80AC00, Capability::arm_i8mm},  // USMMLA
    {0xBFE0FC00, 0x0E809C00, Capability::arm_i8mm},  // USDOT
    {0xBFC0F400, 0x0F80F000, Capability::arm_i8mm},  // USDOT by element
    {0xBFC0F400, 0x0F00F000, Capability::arm_i8mm},  // SUDOT by element
    {0xBFE0FC00, 0x2E40FC00, Capability::arm_bf16},  // BFDOT
    {0xBFC0F400, 0x0F40F000, Capability::arm_bf16},
    {0xFFE0FC00, 0x6E40EC00, Capability::arm_bf16},  // BFMMLA
    {0xBFE0FC00, 0x2EC0FC00, Capability::arm_bf16},  // BFMLAL
    {0xBFC0F400, 0x0FC0F000, Capability::arm_bf16},
    {0xFFFFFC00, 0x1E634000, Capability::arm_bf16},  // BFCVT
    {0xBFFFFC00, 0x0EA16800, Capability::arm_bf16},  // BFCVTN
    {0xBF20F400, 0x2E008400, Capability::arm_asimdrdm},
    {0xFF20F400, 0x7E008400, Capability::arm_asimdrdm},
    {0xBF00D400, 0x2F00D000, Capability::arm_asimdrdm},
    {0xFF00D400, 0x7F00D000, Capability::arm_asimdrdm},
    {0xBF20E400, 0x2E00C400, Capability::arm_fcma},  // FCMLA
    {0xBF20EC00, 0x2E00E400, Capability::arm_fcma},  // FCADD
    {0xBF009400, 0x2F001000, Capability::arm_fcma},
    {0xBF60FC00, 0x0E20EC00, Capability::arm_asimdfhm},
    {0xBF60FC00, 0x2E20CC00, Capability::arm_asimdfhm},
    {0xBFC0B400, 0x0F800000, Capability::arm_asimdfhm},
    {0xBFC0B400, 0x2F808000, Capability::arm_asimdfhm},
    {0xFFFFFC00, 0x1E7E0000, Capability::arm_jscvt},
    {0xFFBE7C00, 0x1E284000, Capability::arm_frint},
    {0xBFBFEC00, 0x0E21E800, Capability::arm_frint},
    {0xBFBFEC00, 0x2E21E800, Capability::arm_frint},
};

constexpr std::uint32_t rax1_mask = 0xFFE0FC00;
constexpr std::uint32_t rax1 = 0xCE608C00;

}  // namespace

ArmInstruction read_arm_instruction(std::uint32_t word) {
  // MRS of an ID register: op0 3, op1 0, CRn 0, CRm 1 to 7.
  const bool identifies = (word & 0xFFFFF000) == 0xD5380000 && ((word >> 8) & 0xF) != 0;
  ArmInstruction read{identifies, detect::capability_count};
  if ((word & rax1_mask) == rax1) {
    read.capability = static_cast<std::uint16_t>(Capability::arm_sha3);
    return read;
  }
  for (const Encoding& one : encodings) {
    if ((word & one.mask) != one.value) continue;
    read.capability = static_cast<std::uint16_t>(one.capability);
    break;
  }
  return read;
}

}  // namespace axle::binaries
