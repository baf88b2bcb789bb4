#pragma once
// `[tool.uv.sources]` of a pyproject.toml that is requested (`-r`) or of which groups are (`--group
// PATH:NAME`), besides the one that the configuration is from; and of projects in folders that are
// sources themselves.

#include <set>
#include <string>

#include "session/command_failure.h"
#include "session/options.h"
#include "session/settings/settings.h"

namespace axle::session {

/// As uv has it: what such a file names itself has the sources of that file, or else of the root of
/// its workspace, in place of those in `settings`; the indexes of these sources are from there,
/// too, and serve nothing else. What a project in a folder, which
/// a source names, assigns to what it requires is added where nothing is said of that package.
/// Errors: usage, for an index that is not there, for a table that is
/// not valid, and for a package to which two files assign unlike sources.
[[nodiscard]] Outcome<void> take_requested_sources(const Arguments& arguments, Settings& settings);

/// The packages to which the pyproject.toml `file`, its workspace, or a project in a folder that
/// these name assigns a source. Errors: as above.
[[nodiscard]] Outcome<std::set<std::string>> packages_with_sources(const std::string& file,
                                                                   const Settings& settings);

}  // namespace axle::session
