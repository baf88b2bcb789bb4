#pragma once
// Which build runs where, and which is preferred, transcribed from torch's and the vendors' own
// documents. Nothing of Axle is used: this is what the product is compared with.

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "tests/torch/builds_table.h"

namespace axle::testing {

enum class Fitness : std::uint8_t { misfit, unknown, fits };

struct RuleMachine {
  std::vector<TableGpu> gpus;  ///< that work; names do not matter
  std::string nvidia_driver;   ///< "570.26"
};

/// A build and the release that has it.
struct RuleChoice {
  std::string release;
  std::string label;
  friend bool operator==(const RuleChoice&, const RuleChoice&) = default;
};

/// Each floor and each toolkit's driver, and one just below. Left out: 450.36 to 450.66. The family
/// says CUDA 11.0 for the floor 450.80.02, and those report CUDA 11.0 too.
[[nodiscard]] const std::vector<std::string>& drivers_at_each_floor();

/// "570.26" is older than "570.124.06": numbers, not text.
[[nodiscard]] bool is_older_driver(std::string_view left, std::string_view right);

[[nodiscard]] Fitness judge(const TableBuild& build, const RuleMachine& machine);

/// The newest release with a build that fits, and of its builds the newest CUDA, then the newest
/// ROCm, then XPU; else the CPU build of the newest release. What is not known does not count.
[[nodiscard]] RuleChoice choose_by_rule(std::string_view platform, const RuleMachine& machine);

}  // namespace axle::testing
