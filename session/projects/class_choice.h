#pragma once
// Which class of a lock a machine belongs to.

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "detect/machine.h"
#include "plan/lock/lock.h"
#include "providers/gpu_policy.h"
#include "resolver/predicate/predicate.h"
#include "session/command_failure.h"
#include "wheel/specifier.h"
#include "wheel/version.h"

namespace axle::session {

/// Why a class is not the one of a machine and an interpreter; neither: it is.
struct ClassVerdict {
  const plan::LockedClass* about = nullptr;
  std::vector<resolver::Misfit> misfits;  ///< of the machine
  bool other_python = false;

  [[nodiscard]] bool holds() const { return misfits.empty() && !other_python; }
};

/// In the lock's order. `python`: nullptr: any interpreter will do. Error: malformed, for a
/// predicate that is none.
[[nodiscard]] Result<std::vector<ClassVerdict>> judge_classes(const plan::Lock& lock,
                                                              const detect::Machine& machine,
                                                              const providers::GpuPolicy& gpus,
                                                              const wheel::Version* python);

/// Whether the class is for that interpreter.
[[nodiscard]] bool is_for_python(const plan::LockedClass& about, const wheel::Version& python);

/// "3.12", "3.12 (>=3.12.4)"
[[nodiscard]] std::string render_python(const plan::LockedClass& about);

/// The newest patch release of "3.12" that `allowed` has, of all that there may ever be. nullopt:
/// none.
[[nodiscard]] std::optional<std::string> newest_release(const std::string& minor,
                                                        const wheel::SpecifierSet& allowed);

/// "3.12"
[[nodiscard]] std::string minor_of(const wheel::Version& python);

/// "nvidia driver >= 570.26 (seen: 550.54)", for a message.
[[nodiscard]] std::string render_misfits(const ClassVerdict& verdict);

/// No class of those that are asked for holds: the nearest ones, what differs, and how to lock for
/// this machine. Exit code 3. `verdicts`: not empty.
[[nodiscard]] CommandFailure no_class_holds(const std::vector<ClassVerdict>& verdicts);

}  // namespace axle::session
