#pragma once
// The "recording" of a profile: what a machine answered, as JSON that people can read and check.

#include <nlohmann/json_fwd.hpp>

#include "detect/record/recording.h"
#include "foundation/documents/json_object.h"

namespace axle::machines {

/// Reads every key of the object; what is wrong is refused in its reading.
void read_recording(documents::JsonObject& object, detect::Recording& recording);

/// Inverse of read_recording. Empty parts are left out; everything is sorted.
[[nodiscard]] nlohmann::ordered_json render_recording(const detect::Recording& recording);

}  // namespace axle::machines
