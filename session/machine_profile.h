#pragma once
// Recording a machine in a file that --for replays.

#include <string>

#include "machines/selection.h"
#include "session/command_failure.h"

namespace axle::session {

/// A recording is written unchanged; stated facts get this program as their origin. A file is
/// replaced atomically; a device or a pipe is written to. Errors: io.
[[nodiscard]] Outcome<void> write_profile(const std::string& path,
                                          const machines::NamedMachine& named, bool elsewhere);

}  // namespace axle::session
