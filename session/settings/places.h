#pragma once
// The sources of settings, one layer each.

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "session/options.h"
#include "session/settings/layer.h"

namespace axle::session {

struct PlacesRequest {
  /// Of the target environment, for its own pip.conf; empty until it is known.
  std::string python_prefix;
  std::string_view pip_section = "install";  ///< that counts beside [global]
};

/// An option, and the row of the setting table that it gives a value.
struct OptionKey {
  Opt id;
  std::string_view key;
};
/// Of all options that are settings. --constraint is read with the requirements files, --no-binary
/// and --only-binary in their order.
[[nodiscard]] std::span<const OptionKey> option_keys();

/// Highest precedence first: the command line, PIP_*, UV_*, the project's [tool.uv] or uv.toml,
/// the user's [defaults] (user_defaults.h), pip's files, uv's user and system files. As with uv, a
/// list on the command line replaces its UV_ variable; as with pip, a PIP_ variable replaces the
/// value in pip's files. Errors: usage, for a file that is not valid or cannot be read.
[[nodiscard]] Outcome<std::vector<SettingsLayer>> read_layers(const Arguments& arguments,
                                                              const PlacesRequest& request);

}  // namespace axle::session
