#pragma once
// Settings of pip and uv that are options of a command: they count before it starts, where the
// command line is silent.

#include <span>
#include <string_view>

#include "session/command_failure.h"
#include "session/options.h"

namespace axle::session {

/// Rows of the setting table that are read so: they say which environment is meant, or how.
[[nodiscard]] std::span<const std::string_view> early_settings();

/// Adds to `arguments` what pip's and uv's variables and files say of `options`, those of
/// `command`. pip's section is that of its own command of the same name. Errors: usage, for a file
/// or value that is not valid.
[[nodiscard]] Outcome<void> configure(std::string_view command, std::span<const Opt> options,
                                      Arguments& arguments);

}  // namespace axle::session
