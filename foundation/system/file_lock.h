#pragma once
// Locks files and folders with the kernel's flock, which is released when the process that holds it
// ends, so that no stale lock remains. A lock lasts as long as the descriptor and its duplicates.
// NFS grants an exclusive one only on a file that is open for writing.

#include <cstdint>
#include <system_error>

#include "foundation/system/descriptor.h"

namespace axle::system {

enum class Lock : std::uint8_t { shared, exclusive };

/// operation_would_block: another holds it.
[[nodiscard]] std::error_code try_lock(const Descriptor& file, Lock lock = Lock::exclusive);
/// Locks a folder that a process may have left. Of NFS a host sees only its own locks on folders,
/// so one that changed within a week may be another host's: operation_would_block.
[[nodiscard]] std::error_code try_lock_left(const Descriptor& folder);
/// Gives it up for all duplicates of the descriptor, whoever has inherited them.
void unlock(const Descriptor& file);
/// Waits for all others.
[[nodiscard]] std::error_code wait_for_lock(const Descriptor& file, Lock lock = Lock::exclusive);

/// Whether a lock was refused because the file system has none (NFS without its lock service,
/// Lustre mounted without flock).
[[nodiscard]] bool has_no_locks(const std::error_code& refused);
/// Whether other hosts may have the folder, of whose locks this one knows nothing.
[[nodiscard]] bool is_on_nfs(const Descriptor& folder);

}  // namespace axle::system
