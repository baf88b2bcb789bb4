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

/// Error: usage, with --for: a pyproject.toml is for all machines.
[[nodiscard]] session::Outcome<void> check_no_machine(const session::Session& session);

}  // namespace axle::cli
