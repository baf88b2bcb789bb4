#pragma once
// What one feature needs of a machine and of the build that has it, and what to change where
// something is missing.

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "doctor/features/changed_machine.h"
#include "doctor/judged_machine.h"
#include "index/family/family.h"

namespace axle::doctor {

enum class Usable : std::uint8_t { yes, unknown, no };

/// What might make a feature usable. It is tried before it is said
/// (doctor/features/feature_advice.h).
struct Change {
  enum class Of : std::uint8_t { repair, driver, system, gpu, cpu, platform };
  /// One of several that would do, "linux_x86_64", "an AMD GPU" with "gfx942".
  struct Way {
    std::function<ChangedMachines(const detect::Machine&)> machines;
    std::string name = {};  ///< empty if it is the only one
    std::string with = {};  ///< said of all ways with one name together; may be empty
  };
  Of of;
  std::string text;  ///< "a {} machine": {} stands for the ways that help
  std::vector<Way> ways;
};

/// Done without other hardware.
[[nodiscard]] constexpr bool is_software(Change::Of of) { return of < Change::Of::gpu; }

struct NeedAnswer {
  Usable usable = Usable::yes;
  std::string reason;                  ///< what decided; of a plain yes empty
  std::string advice = {};             ///< how to find out, or what needs no trial; may be empty
  std::vector<Change> changes = {};    ///< of a "no": the first that helps is the best
  std::vector<Change> elsewhere = {};  ///< where another platform's builds could have it
  bool of_release = false;             ///< it is only the release that lacks it
};

/// The GPUs and the CPU.
[[nodiscard]] NeedAnswer judge_hardware(const index::FamilyFeature& feature,
                                        const JudgedMachine& judged);

/// The hardware, the build's toolkit, the driver, and at last what no fact shows. `label`: of the
/// build.
[[nodiscard]] NeedAnswer judge_needs(const index::FamilyFeature& feature,
                                     const index::FamilyLabel* label, const JudgedMachine& judged);

/// There is no GPU of the feature's vendor that counts: why, and what would help.
[[nodiscard]] NeedAnswer without_gpu(const index::FamilyFeature& feature, detect::GpuVendor vendor,
                                     const JudgedMachine& judged);

/// A newer driver of NVIDIA: "NVIDIA driver 570.26 or newer", for `cuda` "12.8".
[[nodiscard]] Change newer_driver(std::string text, const std::string& cuda);

}  // namespace axle::doctor
