#pragma once
// The ordered table of the kernel sets of this architecture: runtime/kernels/kernel_sets.inc.

#include <cstddef>
#include <span>
#include <string_view>

#include "detect/capability.h"
#include "runtime/kernel.h"
#include "runtime/machine/cpu.h"

namespace axle::runtime {

struct KernelRow {
  const char* name;
  std::span<const detect::Capability> required;
  /// With fewer rows of quantised activations (two a row of x in A16W8) the next set is faster.
  std::size_t least_rows;
  const Permission* permission;  ///< null: none is needed
  const KernelSet* set;          ///< null: not in this build
};

/// Best first. The last row requires nothing and is in every build.
[[nodiscard]] std::span<const KernelRow> kernel_table();

[[nodiscard]] const KernelRow* find_kernel(std::string_view name);

/// In this build, and the machine has all that is required. Permissions are not asked for.
[[nodiscard]] bool is_usable(const KernelRow& row);

/// Asks the system for what the set needs beside instructions.
[[nodiscard]] bool is_permitted(const KernelRow& row);

}  // namespace axle::runtime
