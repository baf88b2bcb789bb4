#pragma once
// The rows of the commands for projects: what a pyproject.toml asks for, locked for every class of
// machines. cli/commands.cpp has them in its list.

#include "cli/command.h"

namespace axle::cli {

[[nodiscard]] Command lock_row(std::vector<session::Opt> resolving);
[[nodiscard]] Command sync_row(std::vector<session::Opt> resolving);
[[nodiscard]] Command run_row(std::vector<session::Opt> resolving);
[[nodiscard]] Command verify_row();
[[nodiscard]] Command export_row();
[[nodiscard]] Command outdated_row(std::vector<session::Opt> resolving);
[[nodiscard]] Command tree_row();

}  // namespace axle::cli
