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
/// Waits for all others.
[[nodiscard]] std::error_code wait_for_lock(const Descriptor& file, Lock lock = Lock::exclusive);

}  // namespace axle::system
