#pragma once
// How a command fails: the error and what it means for the exit code.

#include <expected>
#include <string>
#include <vector>

#include "foundation/report/error.h"
#include "resolver/solver/unresolved.h"

namespace axle::session {

inline constexpr int exit_failed = 1;
inline constexpr int exit_usage = 2;
inline constexpr int exit_misfit = 3;  ///< nothing here fits the machine
inline constexpr int exit_stale = 4;   ///< a file is not what it would be now

struct CommandFailure {
  Error error;
  int exit_code = exit_failed;
  bool usage = false;  ///< its kind in JSON is "usage"
  /// Below the message, in text: what it leaves open.
  std::vector<std::string> lines = {};
};

template <class T>
using Outcome = std::expected<T, CommandFailure>;

[[nodiscard]] inline std::unexpected<CommandFailure> failed(Error error) {
  return std::unexpected(CommandFailure{std::move(error), exit_failed, false});
}

/// An error of the resolver: `unsupported` means that nothing fits the machine.
[[nodiscard]] inline std::unexpected<CommandFailure> failed_to_choose(Error error) {
  const int code = error.kind == ErrorKind::unsupported ? exit_misfit : exit_failed;
  return std::unexpected(CommandFailure{std::move(error), code, false});
}

/// The same, with the lines of the conflict.
[[nodiscard]] inline std::unexpected<CommandFailure> failed_to_resolve(
    const resolver::Unresolved& unresolved) {
  const Error& error = unresolved;
  auto failure = failed_to_choose(error);
  failure.error().lines = plan::short_lines(unresolved.conflict);
  return failure;
}

[[nodiscard]] inline std::unexpected<CommandFailure> misused(std::string message,
                                                             std::string hint = {}) {
  return std::unexpected(CommandFailure{
      {ErrorKind::malformed, std::move(message), std::move(hint)}, exit_usage, true});
}

/// A configuration file that is not valid. Ignoring it would drop an index or a limit that the user
/// relies on.
[[nodiscard]] inline std::unexpected<CommandFailure> misconfigured(Error error) {
  return std::unexpected(CommandFailure{std::move(error), exit_usage, false});
}

}  // namespace axle::session
