#pragma once
// --python-version, --implementation and --abi: an interpreter that need not be here.

#include <optional>
#include <string>
#include <vector>

#include "resolver/request/target.h"
#include "session/command_failure.h"
#include "session/options.h"
#include "wheel/tag.h"
#include "wheel/version.h"

namespace axle::session {

/// What is not stated is as in the environment.
struct StatedInterpreter {
  std::optional<wheel::Version> version = {};  ///< with three numbers
  std::string implementation = {};             ///< "cp", "pp" or "py"; "": not stated
  std::vector<std::string> abis = {};

  [[nodiscard]] bool is_stated() const {
    return version || !implementation.empty() || !abis.empty();
  }
  /// Changes what an environment's interpreter says of itself. As with uv the markers follow; pip's
  /// are those of the interpreter that it runs in.
  void apply(wheel::TagTarget& tags, wheel::MarkerEnvironment& markers,
             wheel::Version& python_version) const;
};

/// Errors: usage, with the option.
[[nodiscard]] Outcome<StatedInterpreter> read_stated_interpreter(const Arguments& arguments);

}  // namespace axle::session
