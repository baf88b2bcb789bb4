#pragma once
// Finds the project file with uv's settings, and the projects of a workspace.

#include <string>
#include <vector>

#include "session/command_failure.h"
#include "session/settings/settings.h"

namespace axle::session {

/// The path of a uv.toml, or of a pyproject.toml with [tool.uv]; "" if there is none. Searches
/// upwards from the current folder, or from the root of the workspace that contains its project.
/// Errors: usage, for a pyproject.toml on the way that is not valid or cannot be read.
[[nodiscard]] Outcome<std::string> find_uv_project();

/// The root of the workspace that the project in `folder` is a member of, else `folder`. Errors: as
/// above.
[[nodiscard]] Outcome<std::string> workspace_of(const std::string& folder);

/// Sets the places of those of `sources`, of the pyproject.toml `file`, that are members of its
/// workspace; of one that the workspace does not have, that it is unsupported. Errors: as above.
[[nodiscard]] Outcome<void> place_members(std::vector<PackageSource>& sources,
                                          const std::string& file);

}  // namespace axle::session
