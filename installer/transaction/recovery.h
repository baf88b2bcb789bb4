#pragma once
// How an interrupted transaction (transaction.h) is ended: completed or rolled back.

#include <cstdint>
#include <string>

#include "foundation/report/error.h"
#include "foundation/report/report.h"

namespace axle::installer {

enum class Interrupted : std::uint8_t {
  no,         ///< nothing to do
  invisible,  ///< only invisible leftovers: may be left to a user with write permission
  visible,    ///< must be ended before the environment is read
};

/// Error: io (it cannot be determined).
[[nodiscard]] Result<Interrupted> find_interrupted(const std::string& base);

/// Completes or rolls back; the caller holds the lock for changes. Reports what was done, and warns
/// once about files that cannot be deleted. Packages that another program repaired or removed since
/// are kept that way, and if it changed other files of the transaction, these are kept and
/// everything else is rolled back. Errors: io; malformed, unsupported (the journal cannot be read:
/// nothing was changed).
[[nodiscard]] Result<void> finish_interrupted(const std::string& base, Report& report);

}  // namespace axle::installer
