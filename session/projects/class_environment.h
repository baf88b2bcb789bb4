#pragma once
// The environment of a project on this machine: which class of the lock it is for, and where it is.

#include <optional>
#include <string>

#include "detect/machine.h"
#include "installer/environment/environment.h"
#include "plan/lock/lock.h"
#include "session/command_failure.h"
#include "session/projects/project.h"
#include "session/session.h"

namespace axle::session {

struct ClassEnvironment {
  const plan::LockedClass* about = nullptr;  ///< of the lock it was chosen from
  std::string folder;                        ///< absolute: .venv, or .venv-CLASS
  /// The environment in `folder`; nullopt: there is none yet.
  std::optional<installer::Environment> there = {};
  std::string base_python = {};  ///< then: the interpreter that it is to be made with
};

/// The first class of `lock` that holds on `machine` and whose Python there is: in its environment,
/// or, where that is not made yet, on the path (--python: that one). `named`: the class that the
/// user names; empty: any. Errors: not_found for a class that the lock does not have (the nearest);
/// exit code 3, if none holds, with the nearest; what is wrong with an environment or an
/// interpreter.
[[nodiscard]] Outcome<ClassEnvironment> choose_class(Session& session, const Project& project,
                                                     const plan::Lock& lock,
                                                     const detect::Machine& machine,
                                                     const std::string& named);

/// The environment that was last synchronised, and for which class; an environment without that
/// note is one of the class that holds on `machine`. Errors: not_found, if there is none yet; as
/// above.
[[nodiscard]] Outcome<ClassEnvironment> synced_class(Session& session, const Project& project,
                                                     const plan::Lock& lock,
                                                     const detect::Machine& machine,
                                                     const std::string& named);

/// Notes in the environment which class it is for. Error: io.
[[nodiscard]] Outcome<void> note_class(const ClassEnvironment& chosen);

/// Makes it, if it is not there.
[[nodiscard]] Outcome<void> make_environment(ClassEnvironment& chosen, Session& session);

}  // namespace axle::session
