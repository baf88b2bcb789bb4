#pragma once
// The axle.lock that a command reads.

#include <string>

#include "plan/lock/lock.h"
#include "resolver/predicate/predicate.h"
#include "session/command_failure.h"
#include "session/options.h"
#include "wheel/marker.h"

namespace axle::session {

struct LockFile {
  std::string folder;  ///< absolute
  std::string path;
  plan::Lock lock;
};

/// The one in the current folder, or in the nearest one above it. Errors: usage: there is none; it
/// is not valid, or of a newer schema (exit 2).
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

/// What --extra, --all-extras and --group select; without them the project's own dependencies.
[[nodiscard]] plan::LockSelection read_selection(const Arguments& arguments,
                                                 const plan::Lock& lock);

}  // namespace axle::session
