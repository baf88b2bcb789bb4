#pragma once
// Converts a variant's properties to compiler flags, with the capability table.

#include <optional>
#include <string>
#include <vector>

#include "wheel/variant/variant_metadata.h"

namespace axle::builder {

struct CompileFlag {
  std::string flag;        ///< "-mavx512vnni"
  std::string property;    ///< the property that requires it
  unsigned first_gcc = 0;  ///< first GCC major version with it; 0: all supported ones
};

/// `x86_64 :: level :: vN` is -march=x86-64-vN, a flag's property its own flag; the versions and
/// flags of aarch64 make one -march. Properties without a compiler flag (GPUs) give none.
[[nodiscard]] std::vector<CompileFlag> compile_flags(const wheel::VariantProperties& properties);

/// -mtune= where only one line of processors has a property; elsewhere the compiler's own choice
/// for its -march= is the right one.
[[nodiscard]] std::optional<CompileFlag> tune_flag(const wheel::VariantProperties& properties);

/// The flags alone, joined by spaces.
[[nodiscard]] std::string join_flags(const std::vector<CompileFlag>& flags);

}  // namespace axle::builder
