#pragma once
// What one disassembled instruction requires of the CPU, by the mnemonics of the capability table
// and by its registers. Lines are those of `objdump -d` without addresses, in binutils' own syntax.

#include <cstddef>
#include <string_view>

#include "detect/capability.h"

namespace axle::binaries {

/// "vpdpbusd %zmm1,%zmm2,%zmm3", "sdot\tv0.4s, v1.16b, v2.16b"; capability_count if it is baseline
/// or unknown. On x86-64 the operands distinguish two capabilities with the same mnemonic: EVEX
/// (avx512*) has zmm, mask or high registers. On aarch64 z registers are SVE's, za is SME's; half
/// precision and SVE2 are not distinguished from what they extend.
[[nodiscard]] std::size_t capability_of_instruction(std::string_view instruction,
                                                    detect::Arch arch);

/// The instruction checks the CPU: CPUID, XGETBV, an ID register, or a call of a function that does
/// (getauxval, libgcc's __cpu_indicator_init and __init_cpu_features).
[[nodiscard]] bool asks_for_cpu(std::string_view instruction, detect::Arch arch);

}  // namespace axle::binaries
