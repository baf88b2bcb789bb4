#pragma once
// What an instruction word of aarch64 requires of the CPU (Arm Architecture Reference Manual, "A64
// instruction set encoding").

#include <cstdint>

#include "detect/capability.h"

namespace axle::binaries {

struct ArmInstruction {
  bool asks_cpu = false;         ///< reads an ID register
  std::uint16_t capability = 0;  ///< detect::capability_count: every aarch64 CPU has it
};

/// Half precision is not distinguished from what it extends, nor SVE2 from SVE.
[[nodiscard]] ArmInstruction read_arm_instruction(std::uint32_t word);

}  // namespace axle::binaries
