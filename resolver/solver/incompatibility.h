#pragma once
// What the solver knows: sets of terms of which not all can hold at once, each with its cause, so
// that a failure can be told as a derivation.

#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>
#include <vector>

#include "resolver/solver/integer_set.h"

namespace axle::resolver {

/// A package of the problem, numbered from 0: what is to be installed, a fact of the machine, a
/// backend. Each takes one value: 0, it is not chosen, or the number of one of its candidates,
/// numbered from 1, the later the better.
using PackageId = std::uint32_t;
using Candidate = IntegerSet::Value;
inline constexpr Candidate not_chosen = 0;

/// Holds when the package's value is one of `values`.
struct Term {
  PackageId package = 0;
  IntegerSet values;
};

using IncompatibilityId = std::uint32_t;
inline constexpr IncompatibilityId no_incompatibility =
    std::numeric_limits<IncompatibilityId>::max();

enum class Cause : std::uint8_t {
  root,          ///< the question itself: the root is chosen
  no_candidate,  ///< no candidate of the package is among these values
  need,          ///< a candidate needs one of another package's
  excluded,      ///< a candidate cannot be taken: the problem knows why
  objected,      ///< the problem knows why these do not go together
  derived,       ///< follows from two others
};

/// Not all `terms` hold. They are ascending by package, and none of them is of every value.
struct Incompatibility {
  std::vector<Term> terms;
  Cause cause = Cause::root;
  /// need: the package that is needed, which has no term where it has no candidate at all.
  PackageId needed = 0;
  /// need, excluded: what the problem knows it by.
  std::uint32_t reason = 0;
  IncompatibilityId left = no_incompatibility;  ///< derived: from these two
  IncompatibilityId right = no_incompatibility;

  /// The values of the package's term; all where it has none.
  [[nodiscard]] IntegerSet values_of(PackageId package) const;
};

/// What follows from two incompatibilities of which each names `package`: whatever its value is,
/// one of the two leaves its other terms not all to hold.
[[nodiscard]] Incompatibility resolvent(const Incompatibility& left, IncompatibilityId left_id,
                                        const Incompatibility& right, IncompatibilityId right_id,
                                        PackageId package);

}  // namespace axle::resolver
