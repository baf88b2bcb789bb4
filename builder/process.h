#pragma once
// Runs another program and waits for it.

#include <string>
#include <utility>
#include <vector>

#include "foundation/report/error.h"

namespace axle::builder {

struct Command {
  std::vector<std::string> arguments;  ///< the program first, found by PATH
  std::string folder;                  ///< where it runs; empty: here
  std::string log;                     ///< both outputs are appended to this file
  /// Variables on top of the caller's environment, which the program inherits.
  std::vector<std::pair<std::string, std::string>> variables;
};

/// The exit status; 128 + N after signal N. Standard input is empty.
/// Errors: not_found (no such program), io.
[[nodiscard]] Result<int> run_command(const Command& command);

/// The last `count` lines of a file, or what of it can be read.
[[nodiscard]] std::string last_lines(const std::string& path, std::size_t count);

}  // namespace axle::builder
