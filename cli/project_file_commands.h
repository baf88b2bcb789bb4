#pragma once
// The rows of the commands that write a project's pyproject.toml. cli/commands.cpp has them in its
// list.

#include <vector>

#include "cli/command.h"

namespace axle::cli {

[[nodiscard]] Command init_row();
/// `sources`, `choices`: how packages are found and chosen.
[[nodiscard]] Command add_row(const std::vector<session::Opt>& sources,
                              const std::vector<session::Opt>& choices);
[[nodiscard]] Command remove_row();
[[nodiscard]] Command import_row();

}  // namespace axle::cli
