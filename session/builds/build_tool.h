#pragma once
// What makes a wheel of sources: pip, or uv. Each builds in isolation (PEP 517), with
// the build requirements from the same indexes. Settings that may be secret are passed in
// variables, because other users can read the command line, and nothing else that configures pip or
// uv reaches it.

#include <string>
#include <utility>
#include <vector>

#include "foundation/report/error.h"
#include "installer/environment/environment.h"
#include "resolver/request/wheel_use.h"
#include "session/settings/settings.h"

namespace axle::session {

struct BuildTool {
  std::string name;                  ///< "pip 26.3"
  std::vector<std::string> command;  ///< without what is built and where the wheel goes
  std::string into;                  ///< the option before the folder of the wheel
  std::string limits;                ///< the option before a file with build constraints
  /// Folders are named by URL: in a path it would take what stands in brackets for extras.
  bool takes_urls = false;
  std::vector<std::pair<std::string, std::string>> variables;
  /// What the names of variables begin with that it does not inherit.
  std::vector<std::string> withheld;
};

struct BuildSettings {
  const installer::Environment& environment;
  const Settings& settings;
  const resolver::WheelUse& wheel_use;  ///< of build requirements too
  std::string path;                     ///< $PATH
  std::string uv_cache;                 ///< $UV_CACHE_DIR
  bool keeps_cache = true;              ///< false: --no-cache
};

/// The environment's pip, else the `uv` on the path: whichever is there and can do what the
/// settings say. Error: io, with what is missing.
[[nodiscard]] Result<BuildTool> find_build_tool(const BuildSettings& settings);

}  // namespace axle::session
