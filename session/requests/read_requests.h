#pragma once
// The user's requirements, from the command line, requirements files and dependency groups.

#include <string>
#include <vector>

#include "resolver/request/requests.h"
#include "session/command_failure.h"
#include "session/options.h"
#include "session/requests/remote_text.h"
#include "session/requests/requirements_file.h"
#include "session/settings/settings.h"

namespace axle::session {

/// Positional arguments, --group, and -r, -c files, and those of projects: `files`. Errors: usage
/// for anything that is not a requirement; a file's error with its line.
[[nodiscard]] Outcome<resolver::Requests> read_requests(const Arguments& arguments,
                                                        const RemoteText& remote, FilesRead& files);

/// The packages that positional arguments and -r files name, as they are written there; versions,
/// extras and markers do not count, as in pip and uv. Errors: as above; usage for a requirement
/// without a name.
[[nodiscard]] Outcome<std::vector<std::string>> read_names(const Arguments& arguments,
                                                           const RemoteText& remote);

/// The constraints and overrides from the configuration, in addition to those of the command line.
/// Errors: as above.
[[nodiscard]] Outcome<void> read_configured(const Settings& settings, const RemoteText& remote,
                                            resolver::Requests& requests, FilesRead& files);

}  // namespace axle::session
