#pragma once
// The variables with which users of the published providers, of uv and of conda override facts of
// their machine. This is the only place that interprets them; the command line reads them.

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "detect/machine.h"
#include "foundation/report/error.h"
#include "foundation/report/report.h"

namespace axle::machines {

struct OverrideVariable {
  std::string_view name;
  std::string_view ns;       ///< the namespace of its facts
  std::string_view meaning;  ///< for the page of commands
};

/// In the order in which they are applied: of two for the same fact, the later one counts.
[[nodiscard]] std::span<const OverrideVariable> override_variables();

struct Override {
  std::string variable;
  std::string value;
};

/// The vendors whose drivers need not be queried, because the variables state their answer: the
/// architecture, and for NVIDIA the CUDA version too.
[[nodiscard]] std::vector<detect::GpuVendor> stated_vendors(std::span<const Override> overrides);

/// Replaces detected facts by those that the variables state; the facts get the source "override",
/// and each is reported. Unknown variables and empty values are ignored. Error: malformed, for a
/// value that is not valid or impossible, with the nearest; `machine` must not be used then.
[[nodiscard]] Result<void> apply_overrides(detect::Machine& machine,
                                           std::span<const Override> overrides, Report& report);

}  // namespace axle::machines
