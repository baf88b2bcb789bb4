#pragma once
// Packages whose own RECORD is damaged, and how an installation of the same package replaces them.
// The wheel of the same version shows which files are theirs.

#include <cstdint>
#include <set>
#include <string>
#include <unordered_map>
#include <vector>

#include "foundation/report/error.h"
#include "installer/environment/environment.h"
#include "installer/environment/installed.h"
#include "installer/environment/roots.h"
#include "installer/transaction/new_package.h"
#include "plan/resolution.h"

namespace axle::installer {

/// dist-info folder -> the files (absolute) that are considered the package's own if its RECORD is
/// missing or malformed.
using StandIns = std::unordered_map<std::string, std::vector<std::string>>;

/// Whether Axle may replace it without a RECORD: if Axle, pip or uv installed it. Package managers
/// of operating systems omit the RECORD so that nobody else removes their packages.
[[nodiscard]] bool is_repairable(const InstalledDistribution& distribution);

/// The command that restores a repairable package's RECORD, in backticks.
[[nodiscard]] std::string repair_command(const InstalledDistribution& distribution);

/// For packages that `package` replaces: the files of `entering` for the same version; no files for
/// an older duplicate or a damaged one of another version, of which only the dist-info folder is
/// removed. `leaving` has the newest of one name first.
void add_stand_ins(const plan::ResolvedPackage& package, const NewPackage& entering,
                   const std::vector<InstalledDistribution>& leaving,
                   const std::vector<InstalledDistribution>& damaged, StandIns& stand_ins);

/// Folders named like the dist-info of one of `names` (normalised) whose METADATA is missing or
/// malformed: such a package is not listed, so its installation must remove what is left of it.
/// Only name, version, dist_info and has_record are set. Error: io.
[[nodiscard]] Result<std::vector<InstalledDistribution>> scan_damaged(
    const Roots& roots, const std::set<std::string>& names);

/// A dist-info folder that does not belong to a listed package.
struct DamagedFolder {
  enum class Kind : std::uint8_t {
    unreadable,    ///< METADATA is missing or malformed
    denied,        ///< permission denied
    left_by_pip,   ///< renamed by pip before a removal that was interrupted: "~emo-1.0.dist-info"
    older_double,  ///< another folder of the same name has a newer version
  };
  Kind kind;
  std::string folder;   ///< absolute
  std::string name;     ///< normalised; empty if the folder's name does not contain it
  std::string version;  ///< as above
  std::string why;
};

[[nodiscard]] Result<std::vector<DamagedFolder>> find_damaged_folders(
    const Environment& environment);

}  // namespace axle::installer
