#pragma once
// A proof that nothing fits, and what kept a newer release out, as people read them.

#include <span>
#include <string>
#include <vector>

#include "foundation/report/error.h"
#include "resolver/solver/conflict_solver.h"
#include "resolver/solver/requirement_problem.h"

namespace axle::resolver {

/// What was known from the beginning, of all that `from` follows from. Each once, ascending.
[[nodiscard]] std::vector<IncompatibilityId> premises(std::span<const Incompatibility> known,
                                                      IncompatibilityId from);

/// Why the `premises` cannot hold together.
[[nodiscard]] Error explain_conflict(RequirementProblem& problem, PackageChooser& chooser,
                                     std::span<const Incompatibility> known,
                                     const std::vector<IncompatibilityId>& premises);

/// Installed packages of which other versions were not looked at, among those of the premises.
[[nodiscard]] std::vector<std::string> held_packages(
    const RequirementProblem& problem, std::span<const Incompatibility> known,
    const std::vector<IncompatibilityId>& premises);

}  // namespace axle::resolver
