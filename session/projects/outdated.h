#pragma once
// Which locked versions are not the newest.

#include <optional>
#include <string>
#include <vector>

#include "foundation/report/report.h"
#include "plan/lock/lock.h"
#include "session/command_failure.h"
#include "session/projects/project.h"
#include "session/session.h"
#include "wheel/version.h"

namespace axle::session {

/// One package of one class. Public versions: the label of a build is left out.
struct OutdatedPackage {
  std::string name;  ///< normalised
  std::string class_name;
  wheel::Version locked;
  /// What `variant lock --upgrade` would lock; nullopt: it would not be needed.
  std::optional<wheel::Version> allowed;
  /// The newest with a file for the class, whatever the project requires; nullopt: none was found.
  std::optional<wheel::Version> latest;
};

/// By name, then class. Packages that are named by their place are not among them. Errors: as of
/// make_lock.
[[nodiscard]] Outcome<std::vector<OutdatedPackage>> find_outdated(Session& session,
                                                                  const Project& project,
                                                                  const plan::Lock& lock,
                                                                  Report& report);

}  // namespace axle::session
