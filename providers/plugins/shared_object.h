#pragma once
// Providers that are shared objects (providers/sdk/axle_provider.h). Here is the half that runs in
// the confined process: it loads the object, asks it and writes what it says as answer.h reads it.
// That process is a program of its own, not a fork: a fork would have the secrets of its parent's
// memory and environment.

#include <optional>
#include <string>

#include "providers/plugins/plugin.h"

namespace axle::plugins {

/// The first argument of the program that asks (`AskOptions::loader`); path and query follow.
inline constexpr const char* shared_object_word = "--ask-shared-object";

/// To be called at the start of its main. nullopt: it was not started for that. Else foreign code
/// has run, and may have ended, hung or spoiled the process; leave at once with the exit code,
/// which is 0, and 1 where no answer could be written. Says on descriptor 3 an empty line before
/// any foreign code runs, then {"namespace", "features"} or {"error": {"fault", "message"}}; beside
/// them
/// {"version", "abi", "reasons": […], "threads": those that outlived the query}.
[[nodiscard]] std::optional<int> answer_if_asked(int argc, const char* const* argv);

}  // namespace axle::plugins
