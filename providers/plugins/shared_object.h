#pragma once
// Providers that are shared objects (providers/sdk/axle_provider.h). This half runs in the confined
// process: it loads the object, queries it and writes the answer in the form of answer.h. That
// process is a new program, not a fork: a fork would contain the secrets of its parent's memory and
// environment.

#include <optional>
#include <string>

#include "providers/plugins/plugin.h"

namespace axle::plugins {

/// The first argument of the loader program (`AskOptions::loader`); path and query follow.
inline constexpr const char* shared_object_word = "--ask-shared-object";

/// To be called at the start of main. nullopt: the program was not started for a query. Otherwise
/// foreign code has run, and may have ended, blocked or corrupted the process; leave at once with
/// the exit code, which is 0, or 1 if no answer could be written. Prints to descriptor 3 an empty
/// line before any foreign code runs, then {"namespace", "features"} or {"error": {"fault",
/// "message"}}, with {"version", "abi", "reasons": […], "threads": those that outlived the query}.
[[nodiscard]] std::optional<int> answer_if_asked(int argc, const char* const* argv);

}  // namespace axle::plugins
