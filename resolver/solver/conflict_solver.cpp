#include "resolver/solver/conflict_solver.h"

#include <algorithm>
#include <cstddef>
#include <numeric>
#include <tuple>

#include "resolver/solver/assignments.h"
#include "resolver/solver/knowledge.h"

namespace axle::resolver {

namespace {

/// From so many conflicts on the order of decisions changes: figures of uv's.
constexpr std::uint32_t many_conflicts = 5;

enum class Standing : std::uint8_t { suffering, usual, to_blame };

struct PackageState {
  std::uint32_t found = 0;      ///< the order in which packages came to be needed
  std::uint32_t conflicts = 0;  ///< that named it
  std::uint32_t suffered = 0;   ///< conflicts met when it had just been decided
  std::uint32_t blamed = 0;     ///< conflicts of others with its decision
  Standing standing = Standing::usual;
  bool met = false;      ///< its exclusions are known
  bool waiting = false;  ///< is in the list of those to decide
  bool changed = false;  ///< is in the list of those whose values changed
};

class Search {
 public:
  Search(Problem& problem, PackageId root, SearchBounds bounds)
      : problem_(problem), root_(root), bounds_(bounds) {}

  Result<Solution> run();

 private:
  void exclude(PackageId package, Exclusion exclusion);
  void add_need(PackageId package, const IntegerSet& alike, const Need& need);
  /// Its place, made when the package is met for the first time.
  PackageState& state(PackageId package);

  /// False: the root cannot be chosen, which `proof` shows.
  bool propagate(std::vector<PackageId> changed);
  /// What the incompatibilities that name `package` say now; false as above.
  bool propagate(PackageId package, std::vector<PackageId>& changed);
  /// The incompatibility that follows from a conflict, and where its consequence lies; nullopt as
  /// above.
  std::optional<PackageId> resolve_conflict(IncompatibilityId conflict);
  bool is_proof(const Incompatibility& incompatibility) const;
  void derive(PackageId package, IncompatibilityId cause);
  void look_ahead();
  void go_back_to(Level level);
  /// Counts a conflict against the package that was just decided, or is about to be, and against
  /// the others of it that are decided.
  void blame(const Incompatibility& conflict, PackageId suffering);
  /// Packages that many conflicts are to be blamed on are decided last: the search goes back to
  /// before their decisions. What changed by that.
  std::vector<PackageId> reconsider_blamed();

  std::optional<PackageId> next_to_decide();
  /// The bounds are reached, which `solution_` says.
  bool gives_up();
  /// Asks the problem about one package; what has to be propagated then.
  Result<PackageId> decide(PackageId package);
  /// The problem has something against all that was chosen; what has to be propagated then.
  PackageId object(Objection objection);
  void take_solution();
  /// One of those from `first` on that the candidate does not go with; nullptr: none.
  const Incompatibility* would_conflict(PackageId package, Candidate candidate,
                                        std::size_t first) const;

  Problem& problem_;
  PackageId root_;
  SearchBounds bounds_;
  Assignments assignments_;
  Knowledge knowledge_;
  std::vector<PackageState> packages_;
  std::vector<PackageId> waiting_;
  std::vector<PackageId> changed_;  ///< since the problem was told
  std::optional<PackageId> just_decided_;
  std::vector<PackageId> blamed_;  ///< of late, and not reconsidered yet
  std::uint32_t found_ = 0;
  std::uint32_t asked_ = 0;   ///< questions about a package to the problem
  std::size_t assigned_ = 0;  ///< numbers in `assignments_`
  Solution solution_;
};

PackageState& Search::state(PackageId package) {
  if (package >= packages_.size()) packages_.resize(std::size_t{package} + 1);
  assignments_.make_room(package);
  knowledge_.make_room(package);
  if (!packages_[package].met) {
    packages_[package].met = true;
    for (Exclusion& one : problem_.exclusions(package)) exclude(package, std::move(one));
  }
  return packages_[package];
}

void Search::exclude(PackageId package, Exclusion exclusion) {
  if (exclusion.alike.empty()) return;
  knowledge_.rule_out(package, {{{package, std::move(exclusion.alike)}},
                                Cause::excluded,
                                0,
                                exclusion.reason,
                                no_incompatibility,
                                no_incompatibility});
}

void Search::add_need(PackageId package, const IntegerSet& alike, const Need& need) {
  // In the order of the needs, so that what is asked for first is decided first.
  if (PackageState& place = state(need.package); place.found == 0) place.found = ++found_;
  knowledge_.add_need(package, alike, need);
}

void Search::derive(PackageId package, IncompatibilityId cause) {
  assignments_.derive(package, knowledge_[cause].values_of(package).complement(), cause);
  assigned_ += assignments_.possible(package).boundaries().size();
  PackageState& place = packages_[package];
  if (!assignments_.is_needed(package) || assignments_.is_decided(package)) return;
  if (!place.waiting) {
    place.waiting = true;
    waiting_.push_back(package);
  }
  if (!place.changed) {
    place.changed = true;
    changed_.push_back(package);
  }
}

void Search::look_ahead() {
  // About in the order in which they will be decided.
  std::ranges::sort(changed_, {}, [&](PackageId package) { return packages_[package].found; });
  problem_.look_ahead(changed_, assignments_);
  for (const PackageId package : changed_) packages_[package].changed = false;
  changed_.clear();
}

void Search::go_back_to(Level level) {
  assignments_.back_to(level, [&](PackageId package) {
    if (assignments_.is_decided(package) || packages_[package].waiting) return;
    packages_[package].waiting = true;
    waiting_.push_back(package);
  });
  knowledge_.look_again(level);
}

bool Search::propagate(std::vector<PackageId> changed) {
  while (!changed.empty()) {
    const PackageId package = changed.back();
    changed.pop_back();
    knowledge_.tidy(package);
    if (!propagate(package, changed)) return false;
  }
  return true;
}

bool Search::propagate(PackageId package, std::vector<PackageId>& changed) {
  // New ones come at the end while this runs, and are looked at from there.
  for (std::size_t left = knowledge_.about(package).size(); left > 0; --left) {
    const IncompatibilityId id = knowledge_.about(package)[left - 1];
    if (!knowledge_.is_looked_at(id)) continue;
    const Term* open = nullptr;
    bool undecided = false;
    for (const Term& term : knowledge_[id].terms) {
      const Relation relation = assignments_.relation(term);
      if (relation == Relation::holds) continue;
      if (relation == Relation::fails) {
        knowledge_.set_aside(id, assignments_.level());
        break;
      }
      undecided = undecided || open != nullptr;
      open = &term;
    }
    if (undecided || !knowledge_.is_looked_at(id)) continue;
    if (open != nullptr) {
      const PackageId learns = open->package;
      derive(learns, id);
      if (std::ranges::find(changed, learns) == changed.end()) changed.push_back(learns);
      continue;
    }
    if (just_decided_) blame(knowledge_[id], *just_decided_);
    const auto learns = resolve_conflict(id);
    if (!learns) return false;
    changed = {*learns};
    break;
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
  for (const Term& term : knowledge_[conflict].terms) ++packages_[term.package].conflicts;
  Incompatibility now = knowledge_[conflict];
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
      const IntegerSet rest = now.values_of(package) | knowledge_[last->cause].values_of(package);
      if (const Assignment* const earlier = assignments_.satisfier(package, rest))
        before = std::max(before, earlier->level);
    }
    if (last->is_decision() || before < last->level) {
      if (id == no_incompatibility) id = knowledge_.add(std::move(now));
      go_back_to(before);
      derive(package, id);
      return package;
    }
    const IncompatibilityId cause = last->cause;
    if (id == no_incompatibility) {
      id = knowledge_.keep(now);
    }
    now = resolvent(now, id, knowledge_[cause], cause, package);
    id = no_incompatibility;
  }
  if (id == no_incompatibility) id = knowledge_.add(std::move(now));
  solution_.proof = id;
  return std::nullopt;
}

void Search::blame(const Incompatibility& conflict, PackageId suffering) {
  PackageState& sufferer = packages_[suffering];
  for (const Term& term : conflict.terms) {
    if (term.package == suffering || term.package == root_) continue;
    if (!assignments_.is_decided(term.package)) continue;
    if (++sufferer.suffered >= many_conflicts && sufferer.standing == Standing::usual)
      sufferer.standing = Standing::suffering;
    PackageState& other = packages_[term.package];
    if (++other.blamed < many_conflicts || other.standing != Standing::usual) continue;
    other.standing = Standing::to_blame;
    blamed_.push_back(term.package);
  }
}

std::vector<PackageId> Search::reconsider_blamed() {
  bool went_back = false;
  for (const PackageId package : std::exchange(blamed_, {})) {
    if (!assignments_.is_decided(package)) continue;
    go_back_to(assignments_.level_of(package) - 1);
    went_back = true;
  }
  std::vector<PackageId> changed(went_back ? packages_.size() : 0);
  // What was learned after that decision may say something about any of them.
  std::iota(changed.begin(), changed.end(), PackageId{0});
  return changed;
}

bool Search::gives_up() {
  if (asked_ <= bounds_.questions && solution_.conflicts <= bounds_.conflicts &&
      knowledge_.stored() + assigned_ <= bounds_.numbers) {
    return false;
  }
  const auto trouble = [&](PackageId package) { return packages_[package].conflicts; };
  std::vector<PackageId> troubled(packages_.size());
  std::iota(troubled.begin(), troubled.end(), PackageId{0});
  std::erase_if(troubled, [&](PackageId package) { return trouble(package) == 0; });
  std::ranges::sort(troubled, [&](PackageId left, PackageId right) {
    return std::tuple(trouble(right), left) < std::tuple(trouble(left), right);
  });
  if (troubled.size() > 3) troubled.resize(3);
  solution_.gave_up_over = std::move(troubled);
  return true;
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

const Incompatibility* Search::would_conflict(PackageId package, Candidate candidate,
                                              std::size_t first) const {
  for (std::size_t id = first; id < knowledge_.size(); ++id) {
    const bool conflict = std::ranges::all_of(knowledge_[id].terms, [&](const Term& term) {
      return term.package == package ? term.values.contains(candidate)
                                     : assignments_.relation(term) == Relation::holds;
    });
    if (conflict) return &knowledge_[id];
  }
  return nullptr;
}

Result<PackageId> Search::decide(PackageId package) {
  ++asked_;
  const IntegerSet possible = assignments_.possible(package);
  auto candidate = problem_.choose(package, assignments_);
  if (!candidate) return std::unexpected(std::move(candidate).error());
  if (!*candidate) {
    knowledge_.rule_out(
        package,
        {{{package, possible}}, Cause::no_candidate, 0, 0, no_incompatibility, no_incompatibility});
    return package;
  }
  auto needs = problem_.needs_of(package, **candidate);
  if (!needs) return std::unexpected(std::move(needs).error());
  const std::size_t first = knowledge_.size();
  if (const auto* const exclusion = std::get_if<Exclusion>(&*needs)) {
    exclude(package, *exclusion);
    return package;
  }
  const auto& known = std::get<Needs>(*needs);
  for (const Need& need : known.needs) add_need(package, known.alike, need);
  if (const Incompatibility* conflict = would_conflict(package, **candidate, first)) {
    blame(*conflict, package);
    return package;
  }
  ++solution_.decisions;
  just_decided_ = package;
  assignments_.decide(package, **candidate);
  return package;
}

PackageId Search::object(Objection objection) {
  for (const Term& term : objection.terms) {
    state(term.package);
    // What nothing needs is not chosen: said as a decision, which the search can go back from.
    if (!assignments_.is_decided(term.package)) assignments_.decide(term.package, not_chosen);
  }
  const PackageId first = objection.terms.front().package;
  if (objection.terms.size() == 1) {
    exclude(first, {std::move(objection.terms.front().values), objection.reason});
    return first;
  }
  std::ranges::sort(objection.terms, {}, &Term::package);
  knowledge_.add({std::move(objection.terms), Cause::objected, 0, objection.reason,
                  no_incompatibility, no_incompatibility});
  return first;
}

void Search::take_solution() {
  solution_.chosen.assign(packages_.size(), not_chosen);
  for (PackageId package = 0; package < packages_.size(); ++package) {
    if (assignments_.is_decided(package))
      solution_.chosen[package] = assignments_.possible(package).boundaries().front();
  }
}

Result<Solution> Search::run() {
  state(root_);
  const IncompatibilityId question = knowledge_.add({{{root_, IntegerSet::one(1).complement()}},
                                                     Cause::root,
                                                     0,
                                                     0,
                                                     no_incompatibility,
                                                     no_incompatibility});
  derive(root_, question);
  std::vector<PackageId> changed = {root_};
  while (propagate(std::move(changed))) {
    changed = reconsider_blamed();
    if (!changed.empty()) continue;
    if (gives_up()) break;
    look_ahead();
    const auto next = next_to_decide();
    if (!next) {
      auto objection = problem_.objection(assignments_);
      if (!objection) {
        take_solution();
        break;
      }
      changed = {object(std::move(*objection))};
      continue;
    }
    auto decided = decide(*next);
    if (!decided) return std::unexpected(std::move(decided).error());
    changed = {*decided};
  }
  solution_.known = std::move(knowledge_).take();
  return std::move(solution_);
}

}  // namespace

Result<Solution> solve(Problem& problem, PackageId root, SearchBounds bounds) {
  return Search(problem, root, bounds).run();
}

}  // namespace axle::resolver
