#pragma once
// Small files that the user gives, and which of them were looked for: what is kept of a run depends
// on all of them (kept_answers/answer_keeper.h).

#include <set>
#include <string>

#include "foundation/report/error.h"

namespace axle::session {

/// The text of the file, or of stdin for "-". Errors: not_found; io, also for a named pipe that
/// nobody writes to for 10 s; malformed beyond 64 MiB.
[[nodiscard]] Result<std::string> read_input(const std::string& path);

/// Called where a file of configuration, of requirements or of a project is looked for, whether or
/// not it is there, and for a folder whose entries are listed. read_input does so itself.
void note_looked_at(const std::string& path);

/// Absolute paths, so far.
[[nodiscard]] std::set<std::string> looked_at();

}  // namespace axle::session
