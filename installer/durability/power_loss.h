#pragma once
// What a power failure may have left of changes that had not been written to disk: names that are
// missing or old, files that are empty or cut off. Every promise of an earlier boot
// (unflushed_marks.h) is compared by size and hash, and what is not kept is made again: from the
// record, from the store, or from where the wheel came from.
//
// Assumed of file systems: names appear in the order in which they were made, unless a file was
// written to disk on its own account (ext4, xfs, btrfs); contents come in any order or not at all.

#include <string>

#include "foundation/report/error.h"
#include "foundation/report/report.h"
#include "index/http/transport.h"

namespace axle::installer {

/// The caller holds the lock for changes. Without `transport` only wheels on this machine are read
/// again. What other programs changed since is kept. Packages that cannot be restored are reported
/// with the command that does it; they are tried again by the next command. Error: io (nothing is
/// lost, the next command continues).
[[nodiscard]] Result<void> recover_from_power_loss(const std::string& base,
                                                   index::Transport* transport, Report& report);

}  // namespace axle::installer
