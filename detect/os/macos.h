#pragma once
// The version of macOS, which decides which wheels run there. Os::name has it ("macOS 15.1"): of a
// recorded Mac what kern.osproductversion says, of a stated one what is stated.

#include <optional>
#include <string>
#include <utility>

#include "detect/machine.h"

namespace axle::detect {

using MacosVersion = std::pair<unsigned, unsigned>;  ///< {15, 1}, {10, 15}

/// nullopt: another system, or it is not known.
[[nodiscard]] std::optional<MacosVersion> macos_version(const Os& os);

/// "macOS 15.1"
[[nodiscard]] std::string macos_name(MacosVersion version);

}  // namespace axle::detect
