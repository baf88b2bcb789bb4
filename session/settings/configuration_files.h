#pragma once
// Finds and reads the configuration files of pip and uv that apply.

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "session/settings/layer.h"

namespace axle::session {

/// nullopt if the file does not exist. A file that exists and cannot be read is an error: it may
/// set an index or a limit that the user relies on.
[[nodiscard]] Outcome<std::optional<std::string>> read_configuration(const std::string& path);

/// [tool.uv] of a pyproject.toml, with the folders of the members of its workspace; nullopt if it
/// does not exist. Errors: as above; usage, for what is not valid.
[[nodiscard]] Outcome<std::optional<SettingsLayer>> read_pyproject_layer(const std::string& file);

/// All values of `section` in pip's files, with pip's precedence: `section` in any file wins over
/// [global] in any other; among files PIP_CONFIG_FILE, the environment's (`python_prefix`), the
/// user's, the system's.
[[nodiscard]] Outcome<SettingsLayer> read_pip_files(std::string_view section,
                                                    const std::string& python_prefix);

struct UvFiles {
  SettingsLayer project;            ///< or the file that UV_CONFIG_FILE names, alone
  std::vector<SettingsLayer> rest;  ///< the user's, the system's
};

/// uv's rule: the nearest folder, from the root of the project's workspace upwards, that has a
/// uv.toml, or a pyproject.toml with [tool.uv]; if both, the uv.toml. --config-file and --no-config
/// in `arguments` win over their variables.
[[nodiscard]] Outcome<UvFiles> read_uv_files(const Arguments& arguments);

}  // namespace axle::session
