#pragma once
// `[tool.uv.sources]` of a pyproject.toml whose groups are requested (`--group PATH:NAME`), besides
// the one that the configuration is from.

#include <string>
#include <vector>

#include "session/command_failure.h"
#include "session/settings/settings.h"

namespace axle::session {

/// As uv has it: what the requested groups of a file name themselves has the sources of that file,
/// or else of the root of its workspace, in place of those in `settings`; the indexes of these
/// sources are from there, too, and serve nothing else. `groups`: the values of --group. Errors:
/// usage, for an index that is not there, for a table that is not valid, and for a package to which
/// two files assign unlike sources.
[[nodiscard]] Outcome<void> take_group_sources(const std::vector<std::string>& groups,
                                               Settings& settings);

}  // namespace axle::session
