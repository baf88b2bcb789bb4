#pragma once
// The rows of the commands that write a project's pyproject.toml. cli/commands.cpp has them in its
// list.

#include <vector>

#include "cli/command.h"

namespace axle::cli {

[[nodiscard]] Command init_row();
/// `locking`: the options of `variant lock`, which follows.
[[nodiscard]] Command add_row(const std::vector<session::Opt>& locking);
[[nodiscard]] Command remove_row(const std::vector<session::Opt>& locking);
[[nodiscard]] Command import_row(const std::vector<session::Opt>& locking);

}  // namespace axle::cli
