#pragma once
// Programs for another processor than the machine has: x86-64 ones on a Mac with Apple's processor
// (Rosetta 2) and on Windows on Arm, 32-bit ones on Windows. A Python of that kind takes the wheels
// of the processor that it sees.

#include <string>
#include <string_view>

#include "detect/machine.h"

namespace axle::machines {

/// Whether the system of `machine` runs programs for `architecture` ("x86_64", "i686") beside those
/// for its own.
[[nodiscard]] bool can_translate(const detect::Machine& machine, std::string_view architecture);

/// The machine as such programs see it: of a translated x86-64 what every translation has,
/// x86-64-v2, is known.
void take_translated(detect::Machine& machine, std::string_view architecture);

[[nodiscard]] bool is_translated(const detect::Cpu& cpu);

/// "programs for x86_64, which Rosetta 2 translates"
[[nodiscard]] std::string describe_translation(const detect::Machine& machine);

}  // namespace axle::machines
