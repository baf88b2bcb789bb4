#pragma once
// A core of premises in the order in which people follow it, and the package that it comes down to.

#include <cstddef>
#include <string>
#include <vector>

#include "resolver/conflict/conflict_core.h"
#include "resolver/request/want.h"

namespace axle::resolver {

/// What some candidates of one package need of another, in the same words.
struct StatedCase {
  Want want;         ///< by the best of the candidates
  std::string text;  ///< "lib<2"
  IntegerSet candidates;
  IntegerSet values;  ///< of the package that is needed
};

/// Premises that are told in one sentence.
struct Grounds {
  Cause cause = Cause::need;
  Reason::Kind kind = Reason::Kind::requirement;
  PackageId package = 0;
  PackageId needed = 0;           ///< of a need
  IntegerSet candidates;          ///< of `package`
  std::vector<StatedCase> cases;  ///< needs and constraints; those of the best candidate first
  std::vector<std::size_t> premises;
  const Error* error = nullptr;  ///< unusable: of the best candidate
  bool structural = false;
  /// The best candidates all the way from the requests to here have it.
  bool of_best = false;
};

struct Story {
  std::vector<Grounds> grounds;  ///< from the requests on
  PackageId project = 0;         ///< nothing is left of it
  /// Of `grounds`: those that say what is wanted of `project`.
  std::vector<std::size_t> wants;
};

/// `core` must outlive it.
[[nodiscard]] Story tell(const RequirementProblem& problem, const ConflictCore& core);

/// What the best candidate of those grounds wants, and the user.
[[nodiscard]] std::vector<const StatedCase*> cases_of_best(const Grounds& grounds);

}  // namespace axle::resolver
