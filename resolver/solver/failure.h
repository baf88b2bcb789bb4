#pragma once
// A proof that nothing fits, and what kept a newer release out, as people read them.

#include <span>
#include <string>
#include <vector>

#include "foundation/report/error.h"
#include "plan/conflict.h"
#include "resolver/solver/conflict_solver.h"
#include "resolver/solver/requirement_problem.h"

namespace axle::resolver {

/// What was known from the beginning, of all that `from` follows from. Each once, ascending.
[[nodiscard]] std::vector<IncompatibilityId> premises(std::span<const Incompatibility> known,
                                                      IncompatibilityId from);

struct Failure {
  Error error;  ///< in one sentence what it comes down to
  plan::Conflict conflict;
};

/// Why the `premises` cannot hold together.
[[nodiscard]] Failure explain_conflict(RequirementProblem& problem, PackageChooser& chooser,
                                       std::span<const Incompatibility> known,
                                       const std::vector<IncompatibilityId>& premises);

/// What holds in a solution and is in the way of another candidate.
struct InTheWay {
  PackageId package = 0;
  Candidate chosen = not_chosen;
  std::vector<Reason> reasons = {};      ///< why the solution has it so: what is required of it
  std::vector<IntegerSet> allowed = {};  ///< by each of `reasons`
};

/// In one sentence why `candidate` of `package` cannot be chosen beside `others`, which those of
/// what is `known` speak of that `from` lists.
[[nodiscard]] std::string why_not_chosen(RequirementProblem& problem, PackageChooser& chooser,
                                         std::span<const Incompatibility> known,
                                         const std::vector<IncompatibilityId>& from,
                                         PackageId package, Candidate candidate,
                                         const std::vector<InTheWay>& others);

/// Installed packages of which other versions were not looked at, among those of the premises.
[[nodiscard]] std::vector<std::string> held_packages(
    const RequirementProblem& problem, std::span<const Incompatibility> known,
    const std::vector<IncompatibilityId>& premises);

}  // namespace axle::resolver
