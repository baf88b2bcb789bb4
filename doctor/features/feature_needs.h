#pragma once
// What one feature needs of a machine and of the build that has it, and what to change where
// something is missing.

#include <cstdint>
#include <string>

#include "doctor/judged_machine.h"
#include "index/family/family.h"

namespace axle::doctor {

enum class Usable : std::uint8_t { yes, unknown, no };

/// What could make a feature usable.
enum class Cure : std::uint8_t {
  machine,  ///< the change alone
  either,   ///< the change, or another release
  release,  ///< another release; only if none would do, the change
};

struct NeedAnswer {
  Usable usable = Usable::yes;
  std::string reason;  ///< what decided; of a plain yes empty
  std::string change;  ///< what would make it usable, or how to find out; empty: nothing known
  Cure cure = Cure::machine;
};

/// The GPUs, their driver, the CPU and the build's toolkit, and at last what no fact shows.
/// `label`: of the build; nullptr: unknown.
[[nodiscard]] NeedAnswer judge_needs(const index::FamilyFeature& feature,
                                     const index::FamilyLabel* label, const JudgedMachine& judged);

/// There is no GPU of the feature's vendor that counts: why, and what would help.
[[nodiscard]] NeedAnswer without_gpu(detect::GpuVendor vendor, const JudgedMachine& judged);

}  // namespace axle::doctor
