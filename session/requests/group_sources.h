#pragma once
// `[tool.uv.sources]` of a pyproject.toml that is requested (`-r`) or of which groups are (`--group
// PATH:NAME`), besides the one that the configuration is from.

#include "session/command_failure.h"
#include "session/options.h"
#include "session/settings/settings.h"

namespace axle::session {

/// As uv has it: what such a file names itself has the sources of that file, or else of the root of
/// its workspace, in place of those in `settings`; the indexes of these sources are from there,
/// too, and serve nothing else. Errors: usage, for an index that is not there, for a table that is
/// not valid, and for a package to which two files assign unlike sources.
[[nodiscard]] Outcome<void> take_requested_sources(const Arguments& arguments, Settings& settings);

}  // namespace axle::session
