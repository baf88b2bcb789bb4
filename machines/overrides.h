#pragma once
// The variables by which users of the published providers, of uv and of conda say what their
// machine should be taken for. One place knows what each means; the command line reads them.

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
  std::string_view ns;       ///< whose facts it states
  std::string_view meaning;  ///< for the page of commands
};

/// In the order in which they are applied: of two that state the same, the later one counts.
[[nodiscard]] std::span<const OverrideVariable> override_variables();

struct Override {
  std::string variable;
  std::string value;
};

/// The vendors whose drivers need not be asked, since the variables state what they would say: the
/// architecture, and of NVIDIA the CUDA version too.
[[nodiscard]] std::vector<detect::GpuVendor> stated_vendors(std::span<const Override> overrides);

/// Replaces what was found by what the variables state; the facts get the source
/// "override", and each is said in `report`. Variables that are not known and empty values count
/// for nothing. Error: malformed, for a value that is not valid or that no machine has, with the
/// nearest; `machine` is of no use then.
[[nodiscard]] Result<void> apply_overrides(detect::Machine& machine,
                                           std::span<const Override> overrides, Report& report);

}  // namespace axle::machines
