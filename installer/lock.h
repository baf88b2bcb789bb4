#pragma once
// One command at a time changes an environment. The lock is the kernel's (flock): it is released
// when the process that holds it ends, so no stale lock can remain.

#include <optional>
#include <string>

#include "foundation/report/error.h"
#include "foundation/report/report.h"
#include "installer/file_access.h"

namespace axle::installer {

class EnvironmentLock {
 public:
  /// For changes: creates the state folder if it is missing, and waits for all other commands.
  [[nodiscard]] static Result<EnvironmentLock> for_change(const std::string& state_folder,
                                                          Report& report);
  /// For reading: writes nothing. nullopt if no command has changed the environment yet.
  [[nodiscard]] static Result<std::optional<EnvironmentLock>> for_reading(
      const std::string& state_folder, Report& report);

 private:
  explicit EnvironmentLock(Descriptor file) : file_(std::move(file)) {}
  Descriptor file_;
};

}  // namespace axle::installer
