#pragma once
// The rows of `variant model` in the table of commands.

#include <string_view>

#include "cli/command.h"

namespace axle::cli {

/// `name`: "model" (the group), or one of its commands, such as "model embed".
[[nodiscard]] Command model_row(std::string_view name);

}  // namespace axle::cli
