#pragma once
// A synchronisation that had nothing to do: its answer depends on the lock, on what the lock was
// made from, and on the environment.

#include <vector>

#include "installer/environment/installed.h"
#include "plan/lock/lock.h"
#include "session/kept_answers/answer_keeper.h"
#include "session/projects/class_environment.h"
#include "session/session.h"
#include "session/workspace.h"

namespace axle::session {

/// Of sync and run. With options that ask for more than an environment as the lock has it, like
/// --upgrade, --dry-run or --json, nothing is kept.
[[nodiscard]] AnswerKeeper satisfied_sync(Session& session);

/// As AnswerKeeper::keep. Not kept where another class comes before the one that was chosen.
void keep_satisfied_sync(AnswerKeeper& keeper, const KeptAnswer& answer, const Session& session,
                         const plan::Lock& lock, const ClassEnvironment& chosen,
                         const Workspace& workspace,
                         const std::vector<installer::InstalledDistribution>& installed);

}  // namespace axle::session
