#pragma once
// Runs a program and waits for it, with limits on its time and its output.

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <expected>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>
#include <vector>

#include "foundation/system/child_process.h"

namespace axle::system {

struct Program {
  std::vector<std::string> arguments;  ///< the program first: a path, or a name that is searched in
                                       ///< PATH (its relative folders are skipped)
  std::string folder = {};             ///< where it runs; empty: here
  /// In addition to this program's environment, which it inherits.
  std::vector<std::pair<std::string, std::string>> variables = {};
  /// What the names of variables begin with that it does not inherit: "PIP_".
  std::vector<std::string> withheld = {};
};

enum class ErrorStream : std::uint8_t {
  apart,        ///< `ProgramOutput::err`
  with_output,  ///< where stdout goes
  dropped,
};

/// stdin is empty.
struct ProgramSettings {
  std::optional<std::chrono::milliseconds> time_limit = {};  ///< killed after it; unset: none
  std::size_t most_output = std::size_t{4} << 20;  ///< bytes of each stream; killed for more
  ErrorStream errors = ErrorStream::apart;
  std::string log = {};  ///< the file that stdout is appended to (and stderr `with_output`)
  /// Receives stdout piece by piece, without a limit, instead of `ProgramOutput::out`.
  std::function<void(std::string_view)> take_output = {};
  /// Called once after the start, before anything is read: what else is to be done in the meantime.
  std::function<void()> meanwhile = {};
  /// Whether processes that it leaves in its group are killed too when it has ended.
  bool kills_leftovers = false;
  /// Whether it ends what it starts, in groups of their own too (Ninja), when it gets SIGTERM:
  /// kill_running_programs waits for that.
  bool ends_its_own = false;
  ChildSettings child = {};  ///< its places are not used
};

struct ProgramOutput {
  int exit_code = 0;       ///< 128 + signal if one ended it; -1 unknown: SIGCHLD is ignored
  bool timed_out = false;  ///< it was killed at the limit
  bool too_long = false;   ///< it was killed for exceeding the output limit
  std::string out;
  std::string err;
};

/// Returns when the program ends, even if other processes hold its streams. Error: it cannot be
/// started; no_such_file_or_directory: not found in PATH.
[[nodiscard]] std::expected<ProgramOutput, std::error_code> run_program(
    const Program& program, const ProgramSettings& settings = {});

/// This process becomes `program`, in the current folder, with its streams and its process id;
/// descriptors that are closed on exec are, no signal is blocked, and those that were handled have
/// their default action. Returns only if that fails.
[[nodiscard]] std::error_code replace_process(const Program& program);

/// For a signal handler of a process that is about to end: kills the programs that run in their own
/// groups, and their children; those that end their own get SIGTERM, and a few seconds for it.
/// Meanwhile no other program is started, and none is seen to have failed.
void kill_running_programs();

}  // namespace axle::system
