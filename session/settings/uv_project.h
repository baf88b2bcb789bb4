#pragma once
// Which file of the project states uv's settings.

#include <string>

#include "session/command_failure.h"

namespace axle::session {

/// The path of a uv.toml, or of a pyproject.toml with [tool.uv]; "" where there is none. Looks
/// from the current folder, or the root of the workspace whose project that lies in, upwards.
/// Errors: usage, for a pyproject.toml on the way that is not valid or cannot be read.
[[nodiscard]] Outcome<std::string> find_uv_project();

}  // namespace axle::session
