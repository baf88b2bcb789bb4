#pragma once
// --target, --prefix, --root and --user: packages in other folders than the interpreter's own.

#include "installer/environment/environment.h"
#include "session/command_failure.h"
#include "session/options.h"

namespace axle::session {

/// Whether packages go elsewhere, so that the interpreter need not be one of an environment.
[[nodiscard]] bool names_other_folders(const Arguments& arguments);

/// Changes the folders of `environment` to those that are asked for, with pip's layout. What is
/// installed elsewhere does not count then, except for --user, whose interpreter sees both. Errors:
/// usage, for options that contradict each other or a place that is no folder; unsupported (--user
/// in a virtual environment, which does not see it).
[[nodiscard]] Outcome<void> choose_folders(installer::Environment& environment,
                                           const Arguments& arguments);

/// Creates the folder that was chosen, if it is not there. Errors: io.
[[nodiscard]] Outcome<void> make_folder(const installer::Environment& environment);

}  // namespace axle::session
