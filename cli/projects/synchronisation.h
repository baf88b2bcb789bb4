#pragma once
// The environment of a project is made equal to its lock: sync and run, and what add and remove end
// with.

#include <expected>
#include <string>

#include <nlohmann/json_fwd.hpp>

#include "cli/output.h"
#include "cli/projects/locked_project.h"
#include "installer/transaction/changes.h"
#include "plan/resolution.h"
#include "session/kept_answers/answer_keeper.h"
#include "session/session.h"

namespace axle::cli {

/// What a synchronisation did.
struct Synchronised {
  std::string class_name;
  std::string folder;  ///< of the environment
  bool made = false;
  plan::Resolution resolution;
  installer::Changes changes;
};

/// For the class that this machine belongs to, or that --class names. If there was nothing to
/// do, `keeper` keeps the answer. Error: the exit code of what was reported: also 0, for a dry run
/// without an environment.
[[nodiscard]] std::expected<Synchronised, int> synchronise(session::Session& session,
                                                           session::AnswerKeeper& keeper,
                                                           const LockedProject& locked,
                                                           Output& output);

/// Which environment it is, and whether it was made; nothing with --quiet.
void note_environment(const Synchronised& done, Output& output);
/// {class, environment, packages, installed, removed, kept, …}
[[nodiscard]] nlohmann::ordered_json synchronised_json(const Synchronised& done, bool dry_run);

}  // namespace axle::cli
