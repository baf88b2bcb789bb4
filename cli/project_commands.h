#pragma once
// The rows of the commands for a project and its lock. cli/commands.cpp has them in its list.

#include "cli/command.h"

namespace axle::cli {

[[nodiscard]] Command export_row();
[[nodiscard]] Command tree_row();

}  // namespace axle::cli
