#pragma once
// Saves what would be installed as files: what download, wheel, mirror and bundle have in common.

#include "cli/output.h"
#include "session/downloads/brought_files.h"
#include "session/session.h"

namespace axle::cli {

/// For this machine, or for each of --for, into `place`. Returns the exit code.
int save_files(session::Session& session, const session::SavePlace& place, Output& output);

/// Nothing was named that could be saved.
[[nodiscard]] session::Outcome<void> check_something_is_named(const session::Arguments& given);

}  // namespace axle::cli
