#pragma once
// The instructions of x86-64, as far as their length and what they require of the CPU (Intel SDM
// vol. 2, "Instruction Format" and "Opcode Map"; AMD APM vol. 3, "Opcode and Operand Encodings").
// Nothing of what they do is known, so a library's code is read as fast as it is inflated.

#include <cstdint>
#include <string_view>

#include "detect/capability.h"

namespace axle::binaries {

struct X86Instruction {
  unsigned length = 1;    ///< bytes, at least 1
  bool valid = false;     ///< false: an encoding that no 64-bit CPU has, or one that is cut off
  bool asks_cpu = false;  ///< CPUID, XGETBV
  /// detect::Capability; detect::capability_count: every x86-64 CPU has it. AVX2 and AVX-512 have
  /// parts that only the operands tell from AVX and AVX-512F; they count for the latter.
  std::uint16_t capability = 0;
};

inline constexpr unsigned longest_x86_instruction = 15;  ///< bytes

/// The one that `code`, which is not empty, begins with.
[[nodiscard]] X86Instruction read_x86_instruction(std::string_view code);

}  // namespace axle::binaries
