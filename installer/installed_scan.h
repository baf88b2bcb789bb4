#pragma once
// Reading the dist-info folders, for those who already hold the lock.

#include <vector>

#include "installer/installed.h"
#include "installer/roots.h"

namespace axle::installer {

/// As list_installed, without lock and recovery, and with all distributions of one name, newest
/// first.
[[nodiscard]] Result<std::vector<InstalledDistribution>> scan_installed(const Roots& roots,
                                                                        Report& report);

}  // namespace axle::installer
