#pragma once
// One command at a time changes an environment. The lock is the kernel's (flock): it ends with the
// process that holds it, so a dead process never leaves one behind.

#include <optional>
#include <string>

#include "foundation/report/error.h"
#include "foundation/report/report.h"
#include "installer/descriptor.h"

namespace axle::installer {

class EnvironmentLock {
 public:
  /// For changing: creates the state folder when it is missing, waits for everybody else.
  [[nodiscard]] static Result<EnvironmentLock> for_change(const std::string& state_folder,
                                                          Report& report);
  /// For reading: writes nothing. nullopt when no command ever changed the environment.
  [[nodiscard]] static Result<std::optional<EnvironmentLock>> for_reading(
      const std::string& state_folder, Report& report);

 private:
  explicit EnvironmentLock(Descriptor file) : file_(std::move(file)) {}
  Descriptor file_;
};

}  // namespace axle::installer
