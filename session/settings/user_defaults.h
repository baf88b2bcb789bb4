#pragma once
// [defaults] of the user's `axle/config.toml` (axle_config.h): options of Axle's own commands, by
// their long names, for every command that has them.

#include <string>
#include <vector>

#include "foundation/documents/toml_reader.h"
#include "session/options.h"
#include "session/settings/layer.h"

namespace axle::session {

struct UserDefaults {
  SettingsLayer settings;  ///< what pip and uv have settings for, too
  std::vector<Opt> flags;  ///< of Axle's own: how much is said, and how
};

/// The options that may have a default, as the table names them.
[[nodiscard]] std::vector<std::string> names_of_defaults();

/// Reads the table whose options are keys. What is not an option, or says what a single command is
/// to do, is refused at its line.
[[nodiscard]] UserDefaults read_defaults(documents::TomlTable& table);

/// Those of the user's file; nothing if there is none. Errors: usage, for a file that is not valid
/// or cannot be read.
[[nodiscard]] Outcome<UserDefaults> read_user_defaults();

}  // namespace axle::session
