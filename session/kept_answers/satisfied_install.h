#pragma once
// An installation that had nothing to do: its answer depends on the files of requirements, and on
// the environment.

#include <vector>

#include "installer/environment/installed.h"
#include "plan/resolution.h"
#include "session/kept_answers/answer_keeper.h"
#include "session/session.h"
#include "session/workspace.h"

namespace axle::session {

/// With options that ask for more than that the requirements are met, like --upgrade or --dry-run,
/// nothing is kept.
[[nodiscard]] AnswerKeeper satisfied_install(Session& session);

/// As AnswerKeeper::keep. Nothing is kept if an index was asked, if requirements came from a server
/// or stdin, or if the environment is not a virtual one that the user names, has activated, or has
/// as .venv in the working folder or above it.
void keep_satisfied_install(AnswerKeeper& keeper, const KeptAnswer& answer, const Session& session,
                            const plan::Resolution& resolution, const Workspace& workspace,
                            const std::vector<installer::InstalledDistribution>& installed);

}  // namespace axle::session
