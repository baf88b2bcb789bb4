#pragma once
// How a file or folder is locked: by the kernel (flock), which lets go when the process that holds
// the lock ends, so that a dead process leaves none behind. A lock lasts as long as the descriptor
// and its duplicates. NFS grants an exclusive one only on a file that is open for writing.

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
