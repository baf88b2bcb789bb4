#pragma once
// Rows of commands about the program itself.

#include "cli/command.h"

namespace axle::cli {

[[nodiscard]] Command self_test_row();
[[nodiscard]] Command completion_row();
[[nodiscard]] Command man_row();

}  // namespace axle::cli
