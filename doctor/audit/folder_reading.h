#pragma once
// Unpacked trees, folders of wheels, and what is installed in an environment, as an audit sees
// them.

#include <string>
#include <vector>

#include "doctor/audit/audited.h"
#include "doctor/finding.h"
#include "foundation/report/error.h"
#include "foundation/report/report.h"
#include "installer/environment/installed.h"

namespace axle::doctor {

/// A folder with wheels: these. One with dist-info folders: the packages that they describe. Any
/// other: one tree. Links are not followed. Errors: not_found, io, and unsupported for a tree of
/// more than 2,000,000 files.
[[nodiscard]] Result<std::vector<Audited>> read_audited_folder(const std::string& folder,
                                                               Report& report);

/// Whether the file begins like a library.
[[nodiscard]] bool is_library_file(const std::string& path);

/// What is installed, by the RECORDs. What cannot be read is told in `findings`.
[[nodiscard]] std::vector<Audited> read_audited_packages(
    const std::vector<installer::InstalledDistribution>& distributions, Findings& findings,
    Report& report);

}  // namespace axle::doctor
