#pragma once
// What is installed, as a list: it depends on the environment alone.

#include "session/inventory.h"
#include "session/kept_answers/answer_keeper.h"
#include "session/session.h"

namespace axle::session {

/// Of list, of all that is installed.
[[nodiscard]] AnswerKeeper listing(Session& session);

/// As AnswerKeeper::keep, for a virtual environment that the user names, has activated, or has as
/// .venv in the working folder or above it.
void keep_listing(AnswerKeeper& keeper, const KeptAnswer& answer, const Session& session,
                  const Inventory& inventory);

}  // namespace axle::session
