#include "resolver/solver/conflict_solver.h"

#include <algorithm>
#include <cstddef>
#include <iterator>
#include <map>
#include <tuple>

#include "resolver/solver/assignments.h"

namespace axle::resolver {

namespace {

/// From so many conflicts on the order of decisions changes: figures of uv's.
constexpr std::uint32_t many_conflicts = 5;

enum class Standing : std::uint8_t { suffering, usual, to_blame };

struct PackageState {
  std::vector<IncompatibilityId> named_by;  ///< oldest first
  std::uint32_t found = 0;                  ///< the order in which packages came to be needed
  std::uint32_t suffered = 0;               ///< conflicts met when it had just been decided
  std::uint32_t blamed = 0;                 ///< conflicts of others with its decision
  Standing standing = Standing::usual;
  IncompatibilityId ruled_out = no_incompatibility;  ///< what can never be taken of it
  bool met = false;                                  ///< its exclusions are known
  bool waiting = false;                              ///< is in the list of those to decide
};

struct KnownState {
  bool replaced = false;  ///< by one of more candidates
  bool fails = false;     ///< a term of it cannot hold, until the search goes back
};

class Search {
 public:
  Search(Problem& problem, PackageId root) : problem_(problem), root_(root) {}

  Result<Solution> run();

 private:
  IncompatibilityId add(Incompatibility incompatibility);
  void exclude(PackageId package, Exclusion exclusion);
  /// An incompatibility of one term.
  void rule_out(PackageId package, Incompatibility incompatibility);
  /// Keeps one that is not looked at, but that derivations name.
  IncompatibilityId keep(Incompatibility incompatibility);
  /// It is not looked at any more: another one says more.
  void replace(IncompatibilityId id);
  void add_need(PackageId package, const IntegerSet& alike, const Need& need);
  /// Its place, made when the package is met for the first time.
  PackageState& state(PackageId package);

  /// False: the root cannot be chosen, which `proof` shows.
  bool propagate(PackageId from);
  /// The incompatibility that follows from a conflict, and where its consequence lies; nullopt as
  /// above.
  std::optional<PackageId> resolve_conflict(IncompatibilityId conflict);
  bool is_proof(const Incompatibility& incompatibility) const;
  void derive(PackageId package, IncompatibilityId cause);
  void go_back_to(Level level);
  void blame(const Incompatibility& conflict);

  std::optional<PackageId> next_to_decide();
  /// Asks the problem about one package; what has to be propagated then.
  Result<PackageId> decide(PackageId package);
  bool would_conflict(PackageId package, Candidate candidate, std::size_t first) const;

  Problem& problem_;
  PackageId root_;
  Assignments assignments_;
  std::vector<Incompatibility> known_;
  std::vector<KnownState> known_states_;
  std::vector<std::vector<IncompatibilityId>> failing_;  ///< by level
  std::vector<PackageState> packages_;
  std::vector<PackageId> waiting_;
  std::map<std::tuple<PackageId, PackageId, std::uint32_t, std::vector<IntegerSet::Value>>,
           IncompatibilityId>
      needs_;
  std::optional<PackageId> just_decided_;
  std::uint32_t found_ = 0;
  Solution solution_;
};

PackageState& Search::state(PackageId package) {
  if (package >= packages_.size()) packages_.resize(std::size_t{package} + 1);
  assignments_.make_room(package);
  if (!packages_[package].met) {
    packages_[package].met = true;
    for (Exclusion& one : problem_.exclusions(package)) exclude(package, std::move(one));
  }
  return packages_[package];
}

void Search::exclude(PackageId package, Exclusion exclusion) {
  if (exclusion.alike.empty()) return;
  rule_out(package, {{{package, std::move(exclusion.alike)}},
                     Cause::excluded,
                     0,
                     exclusion.reason,
                     no_incompatibility,
                     no_incompatibility});
}

void Search::rule_out(PackageId package, Incompatibility incompatibility) {
  const IncompatibilityId before = state(package).ruled_out;
  if (before == no_incompatibility) {
    packages_[package].ruled_out = add(std::move(incompatibility));
    return;
  }
  // One for all, so that a package of which thousands cannot be taken is not looked at thousands of
  // times.
  const auto id = keep(std::move(incompatibility));
  replace(before);
  packages_[package].ruled_out = add(resolvent(known_[before], before, known_[id], id, package));
}

IncompatibilityId Search::keep(Incompatibility incompatibility) {
  const auto id = static_cast<IncompatibilityId>(known_.size());
  known_.push_back(std::move(incompatibility));
  known_states_.push_back({.replaced = true});
  return id;
}

void Search::replace(IncompatibilityId id) {
  known_states_[id].replaced = true;
  for (const Term& term : known_[id].terms) {
    // It tends to be one of the last.
    auto& named_by = packages_[term.package].named_by;
    const auto place = std::find(named_by.rbegin(), named_by.rend(), id);
    if (place != named_by.rend()) named_by.erase(std::next(place).base());
  }
}

IncompatibilityId Search::add(Incompatibility incompatibility) {
  for (const Term& term : incompatibility.terms) state(term.package);  // which may add others
  const auto id = static_cast<IncompatibilityId>(known_.size());
  for (const Term& term : incompatibility.terms) packages_[term.package].named_by.push_back(id);
  known_.push_back(std::move(incompatibility));
  known_states_.emplace_back();
  return id;
}

void Search::add_need(PackageId package, const IntegerSet& alike, const Need& need) {
  // In the order of the needs, so that what is asked for first is decided first.
  if (PackageState& place = state(need.package); place.found == 0) place.found = ++found_;
  Incompatibility incompatibility;
  incompatibility.cause = Cause::need;
  incompatibility.needed = need.package;
  incompatibility.reason = need.reason;
  if (need.package == package || need.values.empty()) {
    // What needs another candidate of its own package, or what is not there, cannot be taken.
    IntegerSet wrong = need.values.empty() ? alike : alike & need.values.complement();
    if (wrong.empty()) return;
    incompatibility.terms.push_back({package, std::move(wrong)});
    rule_out(package, std::move(incompatibility));
    return;
  }
  const auto [known, is_new] = needs_.try_emplace(
      std::tuple(package, need.package, need.reason, need.values.boundaries()), no_incompatibility);
  IntegerSet dependents = alike;
  if (!is_new) {
    const IntegerSet before = known_[known->second].values_of(package);
    if (before.contains(alike)) return;
    dependents = before | alike;
    replace(known->second);
  }
  incompatibility.terms.push_back({package, std::move(dependents)});
  incompatibility.terms.push_back({need.package, need.values.complement()});
  std::ranges::sort(incompatibility.terms, {}, &Term::package);
  known->second = add(std::move(incompatibility));
}

void Search::derive(PackageId package, IncompatibilityId cause) {
  assignments_.derive(package, known_[cause].values_of(package).complement(), cause);
  PackageState& place = packages_[package];
  if (!assignments_.is_needed(package) || assignments_.is_decided(package)) return;
  if (!place.waiting) {
    place.waiting = true;
    waiting_.push_back(package);
  }
}

void Search::go_back_to(Level level) {
  assignments_.back_to(level, [&](PackageId package) {
    if (assignments_.is_decided(package) || packages_[package].waiting) return;
    packages_[package].waiting = true;
    waiting_.push_back(package);
  });
  for (std::size_t above = std::size_t{level} + 1; above < failing_.size(); ++above) {
    for (const IncompatibilityId id : failing_[above]) known_states_[id].fails = false;
    failing_[above].clear();
  }
}

bool Search::propagate(PackageId from) {
  std::vector<PackageId> changed = {from};
  while (!changed.empty()) {
    const PackageId package = changed.back();
    changed.pop_back();
    // New ones come at the end while this runs, and are looked at from there.
    for (std::size_t left = packages_[package].named_by.size(); left > 0; --left) {
      const IncompatibilityId id = packages_[package].named_by[left - 1];
      KnownState& place = known_states_[id];
      if (place.replaced || place.fails) continue;
      const Term* open = nullptr;
      bool undecided = false;
      for (const Term& term : known_[id].terms) {
        const Relation relation = assignments_.relation(term);
        if (relation == Relation::holds) continue;
        if (relation == Relation::fails) {
          place.fails = true;
          break;
        }
        undecided = undecided || open != nullptr;
        open = &term;
      }
      if (place.fails) {
        if (assignments_.level() >= failing_.size())
          failing_.resize(std::size_t{assignments_.level()} + 1);
        failing_[assignments_.level()].push_back(id);
        continue;
      }
      if (undecided) continue;
      if (open != nullptr) {
        const PackageId learns = open->package;
        derive(learns, id);
        if (std::ranges::find(changed, learns) == changed.end()) changed.push_back(learns);
        continue;
      }
      const auto learns = resolve_conflict(id);
      if (!learns) return false;
      changed = {*learns};
      break;
    }
  }
  return true;
}

bool Search::is_proof(const Incompatibility& incompatibility) const {
  return incompatibility.terms.empty() ||
         (incompatibility.terms.size() == 1 && incompatibility.terms.front().package == root_ &&
          incompatibility.terms.front().values.contains(1));
}

std::optional<PackageId> Search::resolve_conflict(IncompatibilityId conflict) {
  ++solution_.conflicts;
  blame(known_[conflict]);
  Incompatibility now = known_[conflict];
  IncompatibilityId id = conflict;  ///< none: `now` is not kept yet
  while (!is_proof(now)) {
    const Assignment* last = nullptr;
    PackageId package = 0;
    Level before = 0;
    for (const Term& term : now.terms) {
      const Assignment* const step = assignments_.satisfier(term.package, term.values);
      if (step == nullptr) continue;
      if (last == nullptr || step->time > last->time) {
        if (last != nullptr) before = std::max(before, last->level);
        last = step;
        package = term.package;
      } else {
        before = std::max(before, step->level);
      }
    }
    if (!last->is_decision()) {
      // The step may have been enough only together with earlier ones of its package.
      const IntegerSet rest = now.values_of(package) | known_[last->cause].values_of(package);
      if (const Assignment* const earlier = assignments_.satisfier(package, rest))
        before = std::max(before, earlier->level);
    }
    if (last->is_decision() || before < last->level) {
      if (id == no_incompatibility) id = add(std::move(now));
      go_back_to(before);
      derive(package, id);
      return package;
    }
    const IncompatibilityId cause = last->cause;
    if (id == no_incompatibility) {
      id = keep(now);
    }
    now = resolvent(now, id, known_[cause], cause, package);
    id = no_incompatibility;
  }
  if (id == no_incompatibility) id = add(std::move(now));
  solution_.proof = id;
  return std::nullopt;
}

void Search::blame(const Incompatibility& conflict) {
  if (!just_decided_) return;
  PackageState& suffering = packages_[*just_decided_];
  for (const Term& term : conflict.terms) {
    if (term.package == *just_decided_ || term.package == root_) continue;
    if (!assignments_.is_decided(term.package)) continue;
    if (++suffering.suffered >= many_conflicts && suffering.standing == Standing::usual)
      suffering.standing = Standing::suffering;
    PackageState& other = packages_[term.package];
    if (++other.blamed >= many_conflicts && other.standing == Standing::usual)
      other.standing = Standing::to_blame;
  }
}

std::optional<PackageId> Search::next_to_decide() {
  std::erase_if(waiting_, [&](PackageId package) {
    const bool waits = assignments_.is_needed(package) && !assignments_.is_decided(package);
    packages_[package].waiting = waits;
    return !waits;
  });
  if (waiting_.empty()) return std::nullopt;
  const auto order = [&](PackageId package) {
    const PackageState& place = packages_[package];
    const Urgency urgency = problem_.urgency(package, assignments_.possible(package));
    const int before = urgency == Urgency::fixed ? 0 : urgency == Urgency::direct ? 1 : 2;
    const int standing = place.standing == Standing::suffering ? 1
                         : urgency == Urgency::pinned          ? 0
                         : place.standing == Standing::usual   ? 2
                                                               : 3;
    return std::tuple(before, standing, place.found);
  };
  PackageId best = waiting_.front();
  auto best_order = order(best);
  for (const PackageId package : waiting_) {
    const auto its_order = order(package);
    if (its_order < best_order) {
      best = package;
      best_order = its_order;
    }
  }
  return best;
}

bool Search::would_conflict(PackageId package, Candidate candidate, std::size_t first) const {
  for (std::size_t id = first; id < known_.size(); ++id) {
    const bool conflict = std::ranges::all_of(known_[id].terms, [&](const Term& term) {
      return term.package == package ? term.values.contains(candidate)
                                     : assignments_.relation(term) == Relation::holds;
    });
    if (conflict) return true;
  }
  return false;
}

Result<PackageId> Search::decide(PackageId package) {
  const IntegerSet possible = assignments_.possible(package);
  auto candidate = problem_.choose(package, assignments_);
  if (!candidate) return std::unexpected(std::move(candidate).error());
  if (!*candidate) {
    rule_out(
        package,
        {{{package, possible}}, Cause::no_candidate, 0, 0, no_incompatibility, no_incompatibility});
    return package;
  }
  auto needs = problem_.needs_of(package, **candidate);
  if (!needs) return std::unexpected(std::move(needs).error());
  const std::size_t first = known_.size();
  if (const auto* const exclusion = std::get_if<Exclusion>(&*needs)) {
    exclude(package, *exclusion);
    return package;
  }
  const auto& known = std::get<Needs>(*needs);
  for (const Need& need : known.needs) add_need(package, known.alike, need);
  if (would_conflict(package, **candidate, first)) return package;
  ++solution_.decisions;
  just_decided_ = package;
  assignments_.decide(package, **candidate);
  return package;
}

Result<Solution> Search::run() {
  state(root_);
  const IncompatibilityId question = add({{{root_, IntegerSet::one(1).complement()}},
                                          Cause::root,
                                          0,
                                          0,
                                          no_incompatibility,
                                          no_incompatibility});
  derive(root_, question);
  std::optional<PackageId> changed = root_;
  while (propagate(*changed)) {
    const auto next = next_to_decide();
    if (!next) {
      solution_.chosen.assign(packages_.size(), not_chosen);
      for (PackageId package = 0; package < packages_.size(); ++package) {
        if (assignments_.is_decided(package))
          solution_.chosen[package] = assignments_.possible(package).boundaries().front();
      }
      break;
    }
    auto decided = decide(*next);
    if (!decided) return std::unexpected(std::move(decided).error());
    changed = *decided;
  }
  solution_.known = std::move(known_);
  return std::move(solution_);
}

}  // namespace

Result<Solution> solve(Problem& problem, PackageId root) { return Search(problem, root).run(); }

}  // namespace axle::resolver
