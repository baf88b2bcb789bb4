#pragma once
// Sets of candidates as the versions that people know: "every version of app", "app 2.0 and newer".

#include <string>
#include <vector>

#include "resolver/solver/requirement_problem.h"

namespace axle::resolver {

struct VersionText {
  std::string text;                        ///< "app 1.0 to 3.0"
  bool one = false;                        ///< it is one version: "requires", not "require"
  std::vector<std::string> versions = {};  ///< oldest first
};

/// The versions of `package`, a project or an extra of one, that `candidates` are builds of.
/// Pre-releases and yanked releases that nobody asks for are mentioned only where there is nothing
/// else.
[[nodiscard]] VersionText version_text(const RequirementProblem& problem, PackageId package,
                                       const IntegerSet& candidates);

/// "1.0 to 3.0" of versions that are `all` of a package or a part of it, oldest first; `all` has
/// them in the same order.
[[nodiscard]] std::string render_runs(const std::vector<std::string>& versions,
                                      const std::vector<std::string>& all);

}  // namespace axle::resolver
