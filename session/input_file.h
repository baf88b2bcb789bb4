#pragma once
// Small files that are given on the command line.

#include <string>

#include "foundation/report/error.h"

namespace axle::session {

/// The text of the file, or of stdin for "-". Errors: not_found; io, also for a named pipe that
/// nobody writes to for 10 s; malformed beyond 64 MiB.
[[nodiscard]] Result<std::string> read_input(const std::string& path);

}  // namespace axle::session
