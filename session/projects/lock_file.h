#pragma once
// The axle.lock that a command reads, and which part of it is wanted.

#include <optional>
#include <string>
#include <vector>

#include "plan/lock/lock.h"
#include "resolver/predicate/predicate.h"
#include "session/command_failure.h"
#include "session/options.h"
#include "session/projects/project.h"
#include "wheel/marker.h"

namespace axle::session {

struct LockFile {
  std::string folder;  ///< absolute
  std::string path;
  plan::Lock lock;
  std::optional<Project> project = {};  ///< in the same folder; nullopt: the lock is alone

  /// Of a lock that is alone those of a project that says nothing of them: "dev".
  [[nodiscard]] std::vector<std::string> default_groups() const {
    return project ? project->default_groups : std::vector<std::string>{"dev"};
  }
};

/// Exit code 2: `folder` has no lock, and the command works on one.
[[nodiscard]] CommandFailure no_lock(const std::string& folder);

/// nullopt: there is none. Errors, exit code 2 for every command: it is not valid, of a newer
/// schema, contradicts itself, or cannot be read.
[[nodiscard]] Outcome<std::optional<plan::Lock>> read_lock_at(const std::string& path);
[[nodiscard]] Outcome<std::optional<plan::Lock>> read_lock(const Project& project);

/// The one in the current folder, or in the nearest one above it; not above the project. Errors:
/// no_lock, read_lock_at, and what is wrong with the project beside it.
[[nodiscard]] Outcome<LockFile> open_lock();

/// A class of a lock, with its predicate. It is valid as long as the lock.
struct OpenedClass {
  const plan::LockedClass& about;
  resolver::Predicate holds;
};
/// Errors: usage: the lock has no such class (the nearest one); its predicate is not valid (exit
/// 2).
[[nodiscard]] Outcome<OpenedClass> open_class(const plan::Lock& lock, std::string_view name);

/// What an interpreter of the class would say of itself, as far as its Python and its predicate
/// tell: for the markers of requests.
[[nodiscard]] wheel::MarkerEnvironment class_markers(const OpenedClass& one);
/// The system and the architecture that its predicate asks for: "sys_platform == 'win32' and
/// platform_machine == 'AMD64'"; empty: any machine.
[[nodiscard]] std::string environment_marker(const OpenedClass& one);

/// What the options about extras and groups select, as with uv; without them the project's own
/// dependencies and `default_groups`, of which those that the lock does not have are none. Errors:
/// usage: a name that the lock does not have (the nearest), --only-group beside what it leaves out.
[[nodiscard]] Outcome<plan::LockSelection> read_selection(
    const Arguments& arguments, const plan::Lock& lock,
    const std::vector<std::string>& default_groups);

}  // namespace axle::session
