#pragma once
// The rows of `variant ci` in the table of commands.

#include <string_view>

#include "cli/command.h"

namespace axle::cli {

/// `name`: "ci" (the group), "ci github", "ci gitlab", "ci slurm" or "ci make".
[[nodiscard]] Command ci_row(std::string_view name);

}  // namespace axle::cli
