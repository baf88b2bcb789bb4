#pragma once
// The least part of a proof that still is one: what has to be told of why nothing fits. A proof
// rests on what the search happened to meet, of which much may be beside the point.

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "resolver/solver/conflict_solver.h"
#include "resolver/solver/requirement_problem.h"

namespace axle::resolver {

/// One thing that was known from the beginning, with the reason that the problem has for it.
struct Premise {
  Cause cause = Cause::need;  ///< need, excluded, no_candidate or objected
  Reason reason = {};
  PackageId package = 0;   ///< who needs, or what is excluded
  IntegerSet candidates;   ///< of `package`
  PackageId needed = 0;    ///< need: of this package
  IntegerSet values = {};  ///< need: one of these
  /// objected: what does not hold together; `package` and `candidates` are one of them.
  std::vector<Term> terms = {};
  /// It holds together with others of one group or not at all: what the versions of one package
  /// need of another is told in one sentence.
  std::size_t group = 0;
  /// How packages, versions and extras go together, not what anybody asks for.
  bool structural = false;
};

/// `known` as premises; what is derived, and the question itself, are none.
[[nodiscard]] std::vector<Premise> premises_of(const RequirementProblem& problem,
                                               std::span<const Incompatibility> known,
                                               const std::vector<IncompatibilityId>& ids);

/// The labels of those of `candidates` that are builds of releases that were looked at, best first.
[[nodiscard]] std::vector<std::string> labels_of(const RequirementProblem& problem,
                                                 PackageId project, const IntegerSet& candidates);

struct ConflictCore {
  std::vector<Premise> premises;
  /// A proof from them alone: the `reason` of an incompatibility is the place of its premise.
  Solution derivation;
};

/// No group of the premises in it can be left out, unless that takes too long to find out. nullopt:
/// the premises do not contradict each other.
[[nodiscard]] std::optional<ConflictCore> smallest_core(const RequirementProblem& problem,
                                                        std::vector<Premise> premises);

}  // namespace axle::resolver
