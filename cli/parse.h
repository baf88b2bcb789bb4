#pragma once
// argv to a command and its arguments, by the tables in cli/commands.cpp and session/options.cpp.

#include <string>
#include <vector>

#include "cli/command.h"
#include "session/options.h"

namespace axle::cli {

struct Parsed {
  const Command* command = nullptr;  ///< nullptr: `text` is the whole answer
  session::Arguments arguments;      ///< for a usage error: as far as they were understood
  std::string text;                  ///< help or version (exit 0), or the usage error (exit 2)
  std::string hint;                  ///< for a usage error
  bool usage_error = false;
};

/// `words` without the program's name. For `variant-install` the caller prepends `install`.
[[nodiscard]] Parsed parse_command_line(std::vector<std::string> words);

}  // namespace axle::cli
