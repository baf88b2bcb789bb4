#pragma once
// What the solver holds for now: per package the values that are still possible, how each came to
// be so, and the way back.

#include <cstddef>
#include <cstdint>
#include <vector>

#include "resolver/solver/incompatibility.h"
#include "resolver/solver/integer_set.h"

namespace axle::resolver {

/// Number of decisions that an assignment rests on.
using Level = std::uint32_t;

/// One step: a decision, or what an incompatibility left.
struct Assignment {
  std::uint32_t time = 0;  ///< position among all steps
  Level level = 0;
  IncompatibilityId cause = no_incompatibility;  ///< none: a decision
  IntegerSet possible;                           ///< of the package, after this step

  [[nodiscard]] bool is_decision() const { return cause == no_incompatibility; }
};

enum class Relation : std::uint8_t { holds, fails, open };

class Assignments {
 public:
  /// Every package up to `package` has a place; what is not assigned may have any value.
  void make_room(PackageId package);

  [[nodiscard]] const IntegerSet& possible(PackageId package) const;
  [[nodiscard]] bool is_decided(PackageId package) const { return packages_[package].decided; }
  /// It is needed: "not chosen" is no longer possible.
  [[nodiscard]] bool is_needed(PackageId package) const;
  [[nodiscard]] Relation relation(const Term& term) const;
  [[nodiscard]] Level level() const { return level_; }
  /// Of the package's decision, which there is.
  [[nodiscard]] Level level_of(PackageId package) const;
  [[nodiscard]] std::size_t package_count() const { return packages_.size(); }

  void decide(PackageId package, Candidate value);
  /// The package's value is one of `values`, because of `cause`.
  void derive(PackageId package, const IntegerSet& values, IncompatibilityId cause);
  /// Forgets what rests on more than `level` decisions. `undecided` is called with each package
  /// that loses an assignment.
  template <typename Changed>
  void back_to(Level level, Changed changed);

  /// The first step from which the package's value is one of `values`; nullptr: from the beginning.
  /// It must be so by now.
  [[nodiscard]] const Assignment* satisfier(PackageId package, const IntegerSet& values) const;

 private:
  struct Package {
    std::vector<Assignment> steps;
    bool decided = false;
  };

  void add(PackageId package, Assignment assignment);

  std::vector<Package> packages_;
  std::vector<PackageId> order_;  ///< the package of each step
  Level level_ = 0;
};

template <typename Changed>
void Assignments::back_to(Level level, Changed changed) {
  while (!order_.empty()) {
    const PackageId package = order_.back();
    Package& place = packages_[package];
    if (place.steps.back().level <= level) break;
    if (place.steps.back().is_decision()) place.decided = false;
    place.steps.pop_back();
    order_.pop_back();
    changed(package);
  }
  level_ = level;
}

}  // namespace axle::resolver
