#pragma once
// Providers that are shared objects (providers/sdk/axle_provider.h). Here is the half that runs in
// the confined child: it loads the object, asks it and writes what it says as answer.h reads it.

#include <string>

#include "providers/plugins/plugin.h"

namespace axle::plugins {

/// The `work` of a ConfinedTask: foreign code runs in it, and may end, hang or spoil the process.
/// Writes on `answer` {"namespace", "features"}, or {"error": {"fault", "message"}}; beside them
/// {"version", "abi", "reasons": […], "threads": those that outlived the query}. Returns the exit
/// code: 0, and 1 where even that was not possible.
[[nodiscard]] int answer_from_shared_object(const std::string& path, Query query, int answer);

}  // namespace axle::plugins
