#pragma once
// The places that settings come from, one layer each.

#include <string>
#include <vector>

#include "cli/settings/layer.h"

namespace axle::cli {

[[nodiscard]] SettingsLayer command_line_settings(const Arguments& arguments);
[[nodiscard]] SettingsLayer pip_variables();
[[nodiscard]] SettingsLayer uv_variables();

/// pip's: the file that PIP_CONFIG_FILE names, the environment's, the user's, the system's; then
/// uv's: the user's and the system's. Errors: usage, for a file that is not valid or cannot be
/// read.
[[nodiscard]] Outcome<std::vector<SettingsLayer>> configuration_files(
    const std::string& python_prefix);

}  // namespace axle::cli
