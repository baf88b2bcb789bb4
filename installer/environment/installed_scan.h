#pragma once
// Reads the dist-info folders, for callers that hold the lock.

#include <vector>

#include "installer/environment/installed.h"
#include "installer/environment/roots.h"

namespace axle::installer {

/// As list_installed, without lock and recovery, with all distributions of one name, newest first,
/// and without what they require, where that can be left out.
[[nodiscard]] Result<std::vector<InstalledDistribution>> scan_installed(
    const Roots& roots, Report& report, const std::string& cache_folder = {});

/// Adds packages that the interpreter also sees, if the environment has none of that name; for each
/// name the first folder on its path counts. A folder that cannot be read is reported. The cache as
/// for list_installed.
void add_outer(const Environment& environment, std::vector<InstalledDistribution>& installed,
               Report& report, const std::string& cache_folder = {},
               Requirements requirements = Requirements::read);

}  // namespace axle::installer
