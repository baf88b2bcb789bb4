#pragma once
// Checks an index for what its readers, and machines, do not find in it.

#include <cstdint>
#include <vector>

#include "foundation/report/error.h"
#include "foundation/report/report.h"
#include "index/publish/index_place.h"
#include "machines/selection.h"
#include "resolver/lint/finding.h"

namespace axle::resolver {

struct LintOptions {
  std::vector<machines::NamedMachine> machines;  ///< for which releases are judged
  /// They stand for all that there are: what none of them takes is for nobody.
  bool are_all = true;
  bool deep = false;  ///< wheels of a folder are read: their hashes, their own metadata
};

struct LintResult {
  std::uint64_t projects = 0;
  std::uint64_t files = 0;
  std::vector<LintFinding> found;  ///< by project; those of the index first
};

/// Errors: not_found (no index), io; of a storage what it refuses. What is wrong with the index
/// itself is found, not an error.
[[nodiscard]] Result<LintResult> lint_index(index::IndexPlace& place, LintOptions options,
                                            Report& report);

}  // namespace axle::resolver
