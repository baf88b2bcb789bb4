#pragma once
// Finds one value a package such that everything that is needed is there: PubGrub (conflict-driven,
// complete) over numbered candidates. It knows nothing of wheels: what the candidates are and what
// they need is a `Problem`.
//
// Source: Natalie Weizenbaum, "PubGrub" (dart pub's doc/solver.md).

#include <cstddef>
#include <cstdint>
#include <optional>
#include <utility>
#include <variant>
#include <vector>

#include "foundation/report/error.h"
#include "resolver/solver/assignments.h"
#include "resolver/solver/incompatibility.h"

namespace axle::resolver {

/// One of `values` of the package is needed. None of them: it cannot be had. Numbers that are no
/// candidate's should not be among them: each costs a question.
struct Need {
  PackageId package = 0;
  IntegerSet values;
  std::uint32_t reason = 0;  ///< what the problem knows it by
};

/// What each of the candidates `alike` needs.
struct Needs {
  IntegerSet alike;  ///< has the candidate that was asked for
  std::vector<Need> needs;
};

/// None of the candidates `alike` can be taken.
struct Exclusion {
  IntegerSet alike;  ///< has the candidate that was asked for
  std::uint32_t reason = 0;
};

/// `terms` do not all hold together, whatever else is chosen, but do in what was found.
struct Objection {
  std::vector<Term> terms;
  std::uint32_t reason = 0;
};

/// Packages are decided in this order; the smaller first.
enum class Urgency : std::uint8_t { fixed, direct, pinned, usual };

class Problem {
 public:
  virtual ~Problem() = default;
  /// What can never be taken of the package, whatever else is chosen. Asked once, before anything
  /// else is asked of it.
  [[nodiscard]] virtual std::vector<Exclusion> exclusions(PackageId /*package*/) { return {}; }
  /// The candidate of the package that is to be tried first among those that are possible
  /// (`so_far`), which do not have `not_chosen`; nullopt: there is none. An error ends the search.
  [[nodiscard]] virtual Result<std::optional<Candidate>> choose(PackageId package,
                                                                const Assignments& so_far) = 0;
  /// What that candidate needs. May add packages to the problem. An error ends the search.
  [[nodiscard]] virtual Result<std::variant<Needs, Exclusion>> needs_of(PackageId package,
                                                                        Candidate candidate) = 0;
  /// What needs cannot say against a whole solution: a package that is there only where something
  /// else brings it in. nullopt: nothing. The search goes on with it.
  [[nodiscard]] virtual std::optional<Objection> objection(const Assignments& /*solution*/) {
    return std::nullopt;
  }
  /// Before a package is decided: of these, which are needed, other values are possible than
  /// before. The problem may make ready what is asked next; it changes no answer by that.
  virtual void look_ahead(const std::vector<PackageId>& /*changed*/,
                          const Assignments& /*so_far*/) {}
  [[nodiscard]] virtual Urgency urgency(PackageId /*package*/, const IntegerSet& /*values*/) {
    return Urgency::usual;
  }
};

/// One way in which everything fits, or why there is none.
struct Solution {
  std::vector<Candidate> chosen;  ///< by package, not_chosen for what nothing needs
  /// Where nothing fits: from what is known follows that the root cannot be chosen, which is
  /// `proof`.
  std::optional<IncompatibilityId> proof;
  /// The search was given up, for these packages more than for others.
  std::optional<std::vector<PackageId>> gave_up_over;
  std::vector<Incompatibility> known;
  std::uint32_t decisions = 0;
  std::uint32_t conflicts = 0;

  [[nodiscard]] Candidate value_of(PackageId package) const {
    return package < chosen.size() ? chosen[package] : not_chosen;
  }
};

/// Beyond these the search gives up: after minutes, or with a GiB. The hardest of the known sets of
/// requirements needs some thousand questions and conflicts.
struct SearchBounds {
  std::uint32_t questions = 1'000'000;  ///< about a package to the problem
  std::uint32_t conflicts = 50'000;
  std::size_t numbers = std::size_t{1} << 28;  ///< written to what is known and assigned
};

/// `root` has one candidate, 1. Errors: those of the problem alone. What has no solution is no
/// error, nor is a search that took too much time or memory and was given up.
[[nodiscard]] Result<Solution> solve(Problem& problem, PackageId root, SearchBounds bounds = {});

}  // namespace axle::resolver
