#pragma once
// The command that a hint names for a published file.

#include <string>

namespace axle::index {

/// Of the command that removes the wheel at `path`, which is in OUT/simple/PROJECT.
[[nodiscard]] std::string removal_command(const std::string& path);

}  // namespace axle::index
