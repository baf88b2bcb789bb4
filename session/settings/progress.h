#pragma once
// --progress, --no-progress and what corresponds to them in pip and uv.

#include <string>

#include "session/options.h"
#include "session/settings/weighed_layers.h"

namespace axle::session {

/// "auto", "on", "off" or "json". The first layer that says anything of it decides.
[[nodiscard]] std::string take_progress(WeighedLayers& layers);

/// The same of the command line alone, before anything else is read.
[[nodiscard]] std::string progress_of(const Arguments& command_line);

}  // namespace axle::session
