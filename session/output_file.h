#pragma once
// Files that are named on the command line to be written.

#include <optional>
#include <string>
#include <string_view>

#include <sys/types.h>

#include "session/command_failure.h"

namespace axle::session {

/// A file is replaced atomically; a device or a pipe is written to. `what` is named in the error:
/// io. `mode`: independent of the umask.
[[nodiscard]] Outcome<void> write_output(const std::string& path, std::string_view text,
                                         std::string_view what,
                                         std::optional<mode_t> mode = std::nullopt);

}  // namespace axle::session
