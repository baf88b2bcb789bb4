#pragma once
// How an interrupted transaction (transaction.h) ends: finished, or undone.

#include <cstdint>
#include <string>

#include "foundation/report/error.h"
#include "foundation/report/report.h"

namespace axle::installer {

enum class Interrupted : std::uint8_t {
  no,         ///< nothing there
  invisible,  ///< only things that nobody sees: may be left to whoever can write
  visible,    ///< must be finished before the environment is read
};

/// Error: io (it cannot be told).
[[nodiscard]] Result<Interrupted> find_interrupted(const std::string& base);

/// Finishes or undoes; the caller holds the lock for change. Remarks what was done, and warns once
/// of what cannot be deleted. Packages that another program repaired or removed since stay as that
/// left them, and where it changed other files of the transaction, these stay and all else is
/// undone. Errors: io; malformed, unsupported (the journal cannot be read: nothing was touched).
[[nodiscard]] Result<void> finish_interrupted(const std::string& base, Report& report);

}  // namespace axle::installer
