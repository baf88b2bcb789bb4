#pragma once
// The machine that a class of a project is about.

#include "machines/selection.h"
#include "session/command_failure.h"
#include "session/projects/project.h"
#include "session/session.h"

namespace axle::session {

/// `session` probes this machine, where the class is about it. What is assumed of one that does not
/// state it (machines/completion.h) is reported. Errors: usage, with the class's line: an unknown
/// name (the nearest known ones), a folder of several profiles, a platform that the machine is not;
/// a profile that is not valid.
[[nodiscard]] Outcome<machines::NamedMachine> machine_of(const MachineClass& about,
                                                         const Project& project, Session& session);

}  // namespace axle::session
