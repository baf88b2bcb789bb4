#pragma once
// The files that are removed with a distribution.

#include <cstdint>
#include <set>
#include <string>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "foundation/report/error.h"
#include "foundation/report/report.h"
#include "installer/environment/installed.h"
#include "installer/environment/roots.h"
#include "installer/transaction/repair.h"
#include "installer/tree/leaves.h"

namespace axle::installer {

/// A whole folder of this user's, whose files have other names somewhere, as links to the store
/// have.
struct LinkedFolder {
  std::string largest;      ///< of its files, below it
  std::uint64_t inode = 0;  ///< of that
  /// Folders in it that have a folder of byte code: empty, or with a final slash.
  std::vector<std::string> with_byte_code;
};

struct Removal {
  /// Files and whole folders, absolute, none inside another; metadata folders come first.
  std::vector<std::string> things;
  std::unordered_set<std::string> index;  ///< the same, for lookups
  /// Thing -> names of the packages that it is removed with.
  std::unordered_map<std::string, std::set<std::string>> packages;
  /// Thing -> what list_leaves said of it, where that is known already.
  std::unordered_map<std::string, Leaves> leaves;
  std::unordered_map<std::string, LinkedFolder> linked;  ///< by thing

  [[nodiscard]] bool has(const std::string& path) const { return index.contains(path); }
};

/// By the RECORDs of `leaving`: their files, the byte code of their modules, and every folder that
/// contains nothing else. Entries outside the environment, or its interpreter, are kept with a
/// warning; files that a RECORD of `staying` also lists are kept. If a RECORD is missing or
/// malformed, `stand_ins` has the package's files. Errors: unsupported (no RECORD and no stand-in),
/// malformed, io.
[[nodiscard]] Result<Removal> plan_removal(const std::vector<InstalledDistribution>& leaving,
                                           const std::vector<InstalledDistribution>& staying,
                                           const StandIns& stand_ins, const Roots& roots,
                                           Report& report);

}  // namespace axle::installer
