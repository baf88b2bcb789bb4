#pragma once
// The sources of settings, one layer each.

#include <string>
#include <string_view>
#include <vector>

#include "session/settings/layer.h"

namespace axle::session {

struct PlacesRequest {
  /// Of the target environment, for its own pip.conf; empty until it is known.
  std::string python_prefix;
  std::string_view pip_section = "install";  ///< that counts beside [global]
};

/// Highest precedence first: the command line, PIP_*, UV_*, the project's [tool.uv] or uv.toml,
/// pip's files, uv's user and system files. As with uv, a list on the command line replaces its UV_
/// variable; as with pip, a PIP_ variable replaces the value in pip's files. Errors: usage, for a
/// file that is not valid or cannot be read.
[[nodiscard]] Outcome<std::vector<SettingsLayer>> read_layers(const Arguments& arguments,
                                                              const PlacesRequest& request);

}  // namespace axle::session
