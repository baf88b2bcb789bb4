#pragma once
// Which configuration files of pip and uv count here, read.

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "session/settings/layer.h"

namespace axle::session {

/// nullopt where there is no such file. What is there and cannot be read is an error: it may name
/// the index, or the limit, that the user relies on.
[[nodiscard]] Outcome<std::optional<std::string>> read_configuration(const std::string& path);

/// All that pip's files say of `section`, as pip weighs them: `section` of any file wins over
/// [global] of any other; of files PIP_CONFIG_FILE, the environment's (`python_prefix`), the
/// user's, the system's.
[[nodiscard]] Outcome<SettingsLayer> read_pip_files(std::string_view section,
                                                    const std::string& python_prefix);

struct UvFiles {
  SettingsLayer project;            ///< or the file that UV_CONFIG_FILE names, alone
  std::vector<SettingsLayer> rest;  ///< the user's, the system's
};

/// uv's rule: the nearest folder, from the root of the project's workspace upwards, that has a
/// uv.toml, or a pyproject.toml with [tool.uv]; both in one: the uv.toml.
[[nodiscard]] Outcome<UvFiles> read_uv_files();

}  // namespace axle::session
