#pragma once
// The answer of an earlier run that still stands.

#include <optional>

#include "cli/output.h"
#include "session/kept_answers/answer_keeper.h"

namespace axle::cli {

/// nullopt: none is known, or the run is to tell what it does as events.
[[nodiscard]] std::optional<session::KeptAnswer> find_kept(session::AnswerKeeper& keeper,
                                                           const Output& output);

/// Whether an answer is all that was said, and not as events.
[[nodiscard]] bool may_be_kept(const Output& output);

/// Returns the exit code.
[[nodiscard]] int give(const session::KeptAnswer& answer, Output& output);

}  // namespace axle::cli
