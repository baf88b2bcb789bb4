#pragma once
// How an interrupted transaction (transaction.h) is ended: completed or rolled back.

#include <cstdint>
#include <string>

#include "foundation/report/error.h"
#include "foundation/report/report.h"
#include "index/http/transport.h"

namespace axle::installer {

enum class Interrupted : std::uint8_t {
  no,          ///< nothing to do
  invisible,   ///< only invisible leftovers: may be left to a user with write permission
  unverified,  ///< the machine was started since a change: what it promised is to be compared, by a
               ///< user with write permission
  visible,     ///< must be ended before the environment is read
};

/// Error: io (it cannot be determined).
[[nodiscard]] Result<Interrupted> find_interrupted(const std::string& base);

/// Completes or rolls back, and recovers from a power failure (durability/power_loss.h), for which
/// wheels are downloaded with `transport`, if there is one; the caller holds the lock for changes.
/// Reports what was done, and warns once about files that cannot be deleted. Packages that another
/// program repaired or removed since are kept that way, and if it changed other files of the
/// transaction, these are kept and everything else is rolled back. Errors: io; malformed,
/// unsupported (the journal cannot be read: nothing was changed).
[[nodiscard]] Result<void> finish_interrupted(const std::string& base, Report& report,
                                              index::Transport* transport = nullptr);

}  // namespace axle::installer
