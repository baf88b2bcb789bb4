#pragma once
// A command that is proposed looks where the run looked that proposes it: the options of that run
// are repeated in it. The variables and files of the user hold for the next run as well, so only
// what stood on the command line, or in a requirements file, is repeated.

#include <string>
#include <string_view>

#include "session/options.h"

namespace axle::cli {

/// Whether a command that takes the option repeats it: it says where to look, what to look for it
/// with, for which machine and environment, or within which limits. Others say what is done.
[[nodiscard]] bool is_repeated(session::Opt id);

struct CompleteCommand {
  std::string text;
  /// A login or token in a value is left out: what is printed must not have it.
  bool lacks_secret = false;
};

/// `command`, a line for a shell, with the options of `run` that it takes and does not have
/// itself; pip's and uv's commands get them by pip's and uv's names. Other programs' commands, and
/// those for help, stay as they are.
[[nodiscard]] CompleteCommand complete_command(std::string_view command,
                                               const session::RunOptions& run);

/// `hint` with all commands in backticks completed.
[[nodiscard]] std::string complete_hint(std::string_view hint, const session::RunOptions& run);

}  // namespace axle::cli
