#pragma once
// The "recording" of a profile: a machine's answers, as JSON that people can read and check.

#include <nlohmann/json_fwd.hpp>

#include "detect/record/recording.h"
#include "foundation/documents/json_object.h"

namespace axle::machines {

/// Reads every key of the object; errors are added to its reading.
void read_recording(documents::JsonObject& object, detect::Recording& recording);

/// Inverse of read_recording. Empty parts are omitted; everything is sorted.
[[nodiscard]] nlohmann::ordered_json render_recording(const detect::Recording& recording);

}  // namespace axle::machines
