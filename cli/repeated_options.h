#pragma once
// A proposed command must use the same sources as the run that proposes it: the options of that run
// are repeated in it. The user's variables and files also apply to the next run, so only options
// from the command line, or from a requirements file, are repeated.

#include <string>
#include <string_view>

#include "session/options.h"

namespace axle::cli {

/// Whether a command that accepts the option repeats it: if it defines where to search, how, for
/// which machine and environment, or within which limits. Others define what is done.
[[nodiscard]] bool is_repeated(session::Opt id);

struct CompleteCommand {
  std::string text;
  /// A login or token in a value is omitted: it must not be printed.
  bool lacks_secret = false;
};

/// `command`, a line for a shell, with the options of `run` that it accepts and does not have
/// itself; pip's and uv's commands get them under pip's and uv's names. Other programs' commands,
/// and those for help, are unchanged.
[[nodiscard]] CompleteCommand complete_command(std::string_view command,
                                               const session::RunOptions& run);

/// `hint` with all commands in backticks completed.
[[nodiscard]] std::string complete_hint(std::string_view hint, const session::RunOptions& run);

}  // namespace axle::cli
