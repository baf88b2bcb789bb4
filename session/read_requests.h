#pragma once
// What the user asks for, from the command line and from requirements files.

#include "resolver/request/requests.h"
#include "session/command_failure.h"
#include "session/options.h"
#include "session/settings/settings.h"

namespace axle::session {

/// Positionals and -r, -c files; options that the files have are added to `options_of_files`.
/// Errors: usage for what is not a requirement, a file's error with its line.
[[nodiscard]] Outcome<resolver::Requests> read_requests(const Arguments& arguments,
                                                        Arguments& options_of_files);

/// The constraints and overrides that the configuration names, besides those of the command line;
/// options that their files have are added to `options_of_files`. Errors: as above.
[[nodiscard]] Outcome<void> read_configured(const Settings& settings, resolver::Requests& requests,
                                            Arguments& options_of_files);

}  // namespace axle::session
