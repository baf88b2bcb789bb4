#pragma once
// Which installed package owns a file, by the RECORDs.

#include <string>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "foundation/report/error.h"
#include "installer/environment/installed.h"
#include "installer/environment/roots.h"
#include "wheel/record.h"

namespace axle::installer {

/// RECORD of an installed distribution. Errors: not_found, malformed, io.
[[nodiscard]] Result<std::vector<wheel::RecordEntry>> read_record(
    const InstalledDistribution& distribution);

/// Where an entry of `distribution`'s RECORD lies; nullopt when that is outside the environment.
/// Error: io.
[[nodiscard]] Result<std::optional<std::string>> record_target(
    const InstalledDistribution& distribution, const wheel::RecordEntry& entry,
    PathResolver& resolver);

struct Owner {
  std::string name;    ///< "name version"
  std::string sha256;  ///< as its RECORD has it; may be empty
};

/// The owners of those of `paths` (absolute, resolved) that one of `distributions` lists. RECORDs
/// that cannot concern the paths are read but not parsed; missing and malformed ones are passed
/// over. Error: io.
[[nodiscard]] Result<std::unordered_map<std::string, Owner>> find_owners(
    const std::unordered_set<std::string>& paths,
    const std::vector<InstalledDistribution>& distributions, const Roots& roots);

}  // namespace axle::installer
