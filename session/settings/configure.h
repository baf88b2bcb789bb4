#pragma once
// Settings of pip and uv that correspond to options of a command: applied before it starts, if the
// option is not on the command line.

#include <span>
#include <string>
#include <string_view>

#include "session/command_failure.h"
#include "session/options.h"

namespace axle::session {

/// Rows of the setting table that are read this way: they choose the environment, or how it is
/// changed. Those that only concern a list or what is shown are not among them.
[[nodiscard]] std::span<const std::string_view> early_settings();

/// pip's section for one of our commands, which counts beside [global]; "install" for those that
/// pip does not have.
[[nodiscard]] std::string_view settings_section(std::string_view command);

/// Adds to `arguments` the values that pip's and uv's variables and files, and the user's
/// [defaults], set for `options` of `command`. pip's section is the one of its command of the same
/// name. What is said of the progress (take_progress) is no argument but returned: the
/// environment's own pip.conf, which is read later, may say otherwise. Errors: usage, for a file or
/// value that is not valid.
[[nodiscard]] Outcome<std::string> configure(std::string_view command, std::span<const Opt> options,
                                             Arguments& arguments);

}  // namespace axle::session
