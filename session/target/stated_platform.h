#pragma once
// --platform (pip) and --python-platform (uv): a platform that need not be this one.

#include <optional>
#include <string>
#include <vector>

#include "machines/completion.h"
#include "session/command_failure.h"
#include "session/options.h"

namespace axle::session {

struct StatedPlatform {
  std::string name = {};               ///< "manylinux2014_x86_64"
  std::string origin = {};             ///< "--platform manylinux2014_x86_64"
  machines::PlatformFacts facts = {};  ///< the newest C library or macOS that is named
  /// As with pip, exactly these platforms, best first; empty: those of `facts`, as with uv.
  std::vector<std::string> tags = {};
};

/// nullopt: no option names one. Errors: usage, also for a platform that is none of Linux, Windows
/// and macOS, and for two that no machine is.
[[nodiscard]] Outcome<std::optional<StatedPlatform>> read_stated_platform(
    const Arguments& arguments);

}  // namespace axle::session
