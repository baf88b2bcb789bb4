#pragma once
// The rows of the commands for wheels that exist: they are split, checked and published.
// cli/commands.cpp has them in its list.

#include "cli/command.h"

namespace axle::cli {

[[nodiscard]] Command repack_row();
[[nodiscard]] Command audit_row();
[[nodiscard]] Command index_build_row();
[[nodiscard]] Command index_add_row();
[[nodiscard]] Command index_update_row();
[[nodiscard]] Command index_remove_row();
[[nodiscard]] Command index_yank_row();
[[nodiscard]] Command index_lint_row();
[[nodiscard]] Command index_serve_row();
[[nodiscard]] Command publish_row();

}  // namespace axle::cli
