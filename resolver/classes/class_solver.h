#pragma once
// One answer a class of machines, and the weakest predicate under which the same answer comes out:
// no atom can be dropped, and none widened to the next known value, without another answer. It
// comes from what the derivation used, not from what the machine is.
//
// How: the facts that a derivation used (derivations.h) span a grid of machines. A box in it begins
// with the class's own machine and grows by one known value of one fact at a time, as long as every
// machine in it gets the same names and files. Machines that do not differ in what some derivation
// used are not solved: that derivation holds for them. So predicates are sound for all machines,
// and not only for those that were tried.
//
// "sm in {80, 90}" is a condition on machines whose NVIDIA GPUs that count are alike; unlike ones
// are a value of their own, "120+75", newest first, and the same holds for gfx and device. With
// --gpu-policy any or first the facts are those of the GPUs that it selects.

#include <cstddef>
#include <expected>
#include <memory>
#include <string>
#include <vector>

#include "detect/machine.h"
#include "plan/resolution.h"
#include "resolver/classes/derivations.h"
#include "resolver/predicate/predicate.h"

namespace axle::resolver {

struct ClassAnswer {
  /// Of a class that meets the predicate of an earlier one, that one's, with what its decisions
  /// say.
  plan::Resolution resolution;
  Predicate holds;
  /// For which patch releases of the interpreter's minor release: ">=3.11.3"; empty: all of them.
  std::string python_releases = {};
  std::vector<std::string> used = {};  ///< the facts that decided, in the order of fact_rows()
  /// The bound on solves was reached: `holds` may be stronger than it need be.
  bool bounded = false;
};

/// Solves a machine that was not solved before, at most so many for one class beyond its own.
inline constexpr std::size_t most_solves_of_class = 400;

/// Classes that have requests, options, sources and interpreter in common: what one of them needed
/// is not solved or read again for the next.
class ClassSolver {
 public:
  /// All must outlive it. Nothing is installed: what a lock holds already is Options::preferred.
  /// Options::providers.plugins tell of this machine: give none for others.
  ClassSolver(const Requests& requests, const Options& options, const Sources& sources,
              TargetMaker make_target, Report& report,
              std::size_t most_solves = most_solves_of_class);
  ~ClassSolver();

  /// Errors: as of resolve; unsupported: there is no interpreter for such a machine, or the options
  /// select GPUs by name, which says nothing of other machines.
  [[nodiscard]] std::expected<ClassAnswer, Unresolved> solve(const detect::Machine& machine);

  /// Solves so far, of all classes.
  [[nodiscard]] std::size_t solves() const { return derivations_.solves(); }

 private:
  const Options& options_;
  Derivations derivations_;
  std::vector<ClassAnswer> answers_;  ///< of classes before, without those that ran out of solves
  std::size_t most_solves_;
};

}  // namespace axle::resolver
