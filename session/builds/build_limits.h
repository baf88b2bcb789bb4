#pragma once
// What the settings say of builds, besides where build requirements come from: limits on their
// versions, and what decides what is made.

#include <string>
#include <vector>

#include "foundation/report/error.h"
#include "session/builds/build_tool.h"
#include "session/settings/settings.h"

namespace axle::session {

/// The arguments that name the limits on build requirements; texts are written into `scratch`.
[[nodiscard]] Result<std::vector<std::string>> limit_words(const Settings& settings,
                                                           const BuildTool& tool,
                                                           const std::string& scratch);

/// What of the settings decides what a build makes; empty: nothing is set.
[[nodiscard]] std::string build_settings_identity(const Settings& settings);

}  // namespace axle::session
