#pragma once
// --progress, --no-progress and what corresponds to them in pip and uv.

#include <string>

#include "session/settings/weighed_layers.h"

namespace axle::session {

/// "auto", "on", "off" or "json". The first layer that says anything of it decides.
[[nodiscard]] std::string take_progress(WeighedLayers& layers);

}  // namespace axle::session
