#pragma once
// Whoever changes the index in a folder holds a lock on that folder.

#include <string>

#include "foundation/report/error.h"
#include "foundation/system/descriptor.h"

namespace axle::index {

/// Waits up to a minute for another process that changes it. The folder is the one that has this
/// name when the lock is held: another one may take its place meanwhile. Error: io (it is not
/// there, no lock, the other one took too long).
[[nodiscard]] Result<system::Descriptor> lock_index_folder(const std::string& folder);

}  // namespace axle::index
