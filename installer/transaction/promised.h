#pragma once
// What a change promises the environment, for the case that the machine stops before all of it is
// on the disk.

#include <string>
#include <vector>

#include "installer/durability/unflushed_change.h"
#include "installer/transaction/journal.h"
#include "installer/transaction/new_package.h"

namespace axle::installer {

/// `base`: the environment's; `store`: the folder of the store. The files of `entering` are used
/// up.
[[nodiscard]] UnflushedChange promise_of(const Journal& journal, std::vector<NewPackage>& entering,
                                         const std::string& base, const std::string& store);

}  // namespace axle::installer
