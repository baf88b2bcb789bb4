#pragma once
// A command that is proposed looks where the run looked that proposes it: the options of that run
// are repeated in it. The variables and files of the user hold for the next run as well, so only
// what stood on the command line, or in a requirements file, is repeated.

#include <optional>
#include <string>
#include <string_view>

#include "cli/options.h"

namespace axle::cli {

/// What a run was told.
struct RunOptions {
  Arguments command_line;
  /// The options in its requirements files, where files of the run are not what stops it: such a
  /// one would stop the proposed command too, so none is named again.
  std::optional<Arguments> files = {};
  std::string machine = {};  ///< of several, the one that is spoken of, as --for names it
};

/// Whether a command that takes the option repeats it: it says where to look, what to look for it
/// with, for which machine and environment, or within which limits. Others say what is done.
[[nodiscard]] bool is_repeated(Opt id);

struct CompleteCommand {
  std::string text;
  /// A login or token in a value is left out: what is printed must not have it.
  bool lacks_secret = false;
};

/// `command`, a line for a shell, with the options of `run` that it takes and does not have
/// itself; pip's and uv's commands get them by pip's and uv's names. Other programs' commands, and
/// those for help, stay as they are.
[[nodiscard]] CompleteCommand complete_command(std::string_view command, const RunOptions& run);

/// `hint` with all commands in backticks completed.
[[nodiscard]] std::string complete_hint(std::string_view hint, const RunOptions& run);

}  // namespace axle::cli
