#pragma once
// The incompatibilities that a search knows, by package, and how several become one that says as
// much.

#include <cstddef>
#include <map>
#include <tuple>
#include <vector>

#include "resolver/solver/assignments.h"
#include "resolver/solver/conflict_solver.h"
#include "resolver/solver/incompatibility.h"

namespace axle::resolver {

class Knowledge {
 public:
  /// Every package up to `package` has a place.
  void make_room(PackageId package);

  /// Of all its packages, which have a place.
  IncompatibilityId add(Incompatibility incompatibility);
  /// Keeps one that is not looked at, but that derivations name.
  IncompatibilityId keep(Incompatibility incompatibility);
  /// One of one term: all of a package become one, so that a package of which thousands cannot be
  /// taken is not looked at thousands of times.
  void rule_out(PackageId package, Incompatibility incompatibility);
  /// Each of the candidates `alike` of `package` has `need`.
  void add_need(PackageId package, const IntegerSet& alike, const Need& need);

  [[nodiscard]] const Incompatibility& operator[](IncompatibilityId id) const { return known_[id]; }
  [[nodiscard]] std::size_t size() const { return known_.size(); }
  /// Those that name the package, oldest first. New ones come at the end.
  [[nodiscard]] const std::vector<IncompatibilityId>& about(PackageId package) const {
    return packages_[package].named_by;
  }
  /// Removes from `about` those that are not looked at any more.
  void tidy(PackageId package);
  [[nodiscard]] bool is_looked_at(IncompatibilityId id) const {
    return !states_[id].dead && !states_[id].fails;
  }
  /// A term of it cannot hold, since `level` decisions: it says nothing until the search goes back.
  void set_aside(IncompatibilityId id, Level level);
  /// The search went back to `level`.
  void look_again(Level level);

  /// Numbers that the incompatibilities consist of.
  [[nodiscard]] std::size_t stored() const { return stored_; }
  [[nodiscard]] std::vector<Incompatibility> take() && { return std::move(known_); }

 private:
  struct State {
    bool dead = false;  ///< for good: another one says more, or a term never holds
    bool fails = false;
  };
  struct Package {
    std::vector<IncompatibilityId> named_by;
    std::size_t dead = 0;                              ///< of them
    IncompatibilityId ruled_out = no_incompatibility;  ///< what can never be taken of it
  };
  struct KnownNeed {
    IncompatibilityId exact = no_incompatibility;      ///< of all candidates known to have it
    IncompatibilityId looked_at = no_incompatibility;  ///< that, or what is wider and follows
  };

  void drop(IncompatibilityId id);
  /// `values` with the numbers beside them that can never be taken: what is said of several
  /// candidates is one interval then.
  [[nodiscard]] IntegerSet widened(PackageId package, const IntegerSet& values) const;

  std::vector<Incompatibility> known_;
  std::vector<State> states_;
  std::vector<std::vector<IncompatibilityId>> set_aside_;  ///< by level
  std::vector<Package> packages_;
  /// By owner, needed package, reason and what is allowed of that package.
  std::map<std::tuple<PackageId, PackageId, std::uint32_t, std::vector<IntegerSet::Value>>,
           KnownNeed>
      needs_;
  std::size_t stored_ = 0;
};

}  // namespace axle::resolver
