#include "resolver/conflict/conflict_core.h"

#include <algorithm>
#include <map>
#include <ranges>
#include <set>
#include <tuple>
#include <utility>

#include "resolver/solver/failure.h"

namespace axle::resolver {
namespace {

using Kind = RequirementProblem::Package::Kind;

/// So many decisions and conflicts are made at most to find out what can be left out.
constexpr std::uint32_t most_steps = 100'000;

/// The premises alone, as a problem for the solver.
class PremiseProblem final : public Problem {
 public:
  PremiseProblem(const RequirementProblem& problem, std::span<const Premise> premises);

  [[nodiscard]] std::vector<Exclusion> exclusions(PackageId package) override;
  [[nodiscard]] Result<std::optional<Candidate>> choose(PackageId package,
                                                        const Assignments& so_far) override;
  [[nodiscard]] Result<std::variant<Needs, Exclusion>> needs_of(PackageId package,
                                                                Candidate candidate) override;
  [[nodiscard]] std::optional<Objection> objection(const Assignments& solution) override;

 private:
  struct OfPackage {
    std::vector<std::uint32_t> needs;       ///< premises that are needs of it
    std::vector<std::uint32_t> exclusions;  ///< premises that exclude some of it
    std::vector<IntegerSet::Value> ends;    ///< where other needs begin to hold, ascending
  };

  [[nodiscard]] Candidate end_of(PackageId package) const;

  const RequirementProblem& problem_;
  std::span<const Premise> premises_;
  std::map<PackageId, OfPackage> by_package_;
};

PremiseProblem::PremiseProblem(const RequirementProblem& problem, std::span<const Premise> premises)
    : problem_(problem), premises_(premises) {
  for (std::uint32_t i = 0; i < premises.size(); ++i) {
    const Premise& premise = premises[i];
    if (premise.cause == Cause::objected) continue;
    OfPackage& place = by_package_[premise.package];
    if (premise.cause != Cause::need) {
      place.exclusions.push_back(i);
      continue;
    }
    place.needs.push_back(i);
    const auto& ends = premise.candidates.boundaries();
    place.ends.insert(place.ends.end(), ends.begin(), ends.end());
  }
  for (auto& [package, place] : by_package_) {
    std::ranges::sort(place.ends);
    const auto same = std::ranges::unique(place.ends);
    place.ends.erase(same.begin(), same.end());
  }
}

Candidate PremiseProblem::end_of(PackageId package) const {
  const auto& place = problem_.packages()[package];
  if (place.list)
    return place.list->all().boundaries().empty() ? 1 : place.list->all().boundaries().back();
  return place.kind == Kind::backend ? static_cast<Candidate>(place.labels.size()) + 1 : 2;
}

std::vector<Exclusion> PremiseProblem::exclusions(PackageId package) {
  std::vector<Exclusion> excluded;
  const auto place = by_package_.find(package);
  if (place == by_package_.end()) return excluded;
  for (const std::uint32_t premise : place->second.exclusions)
    excluded.push_back({premises_[premise].candidates, premise});
  return excluded;
}

Result<std::optional<Candidate>> PremiseProblem::choose(PackageId package,
                                                        const Assignments& so_far) {
  const auto best = so_far.possible(package).last_below(end_of(package));
  if (!best || *best == not_chosen) return std::nullopt;
  return best;
}

Result<std::variant<Needs, Exclusion>> PremiseProblem::needs_of(PackageId package,
                                                                Candidate candidate) {
  const auto known = by_package_.find(package);
  if (known == by_package_.end()) return Needs{IntegerSet::one(candidate), {}};
  const OfPackage& place = known->second;
  const auto above = std::ranges::upper_bound(place.ends, candidate);
  const Candidate last = above == place.ends.end() ? end_of(package) : *above;
  const Candidate first = above == place.ends.begin() ? 1 : std::max<Candidate>(1, *(above - 1));
  Needs needs{IntegerSet::from_to(first, std::max(last, candidate + 1)), {}};
  for (const std::uint32_t i : place.needs) {
    const Premise& premise = premises_[i];
    if (premise.candidates.contains(candidate))
      needs.needs.push_back({premise.needed, premise.values, i});
  }
  return needs;
}

std::optional<Objection> PremiseProblem::objection(const Assignments& solution) {
  for (std::uint32_t i = 0; i < premises_.size(); ++i) {
    if (premises_[i].cause != Cause::objected) continue;
    const bool holds = std::ranges::all_of(premises_[i].terms, [&](const Term& term) {
      const bool decided =
          term.package < solution.package_count() && solution.is_decided(term.package);
      return term.values.contains(decided ? solution.possible(term.package).boundaries().front()
                                          : not_chosen);
    });
    if (holds) return Objection{premises_[i].terms, i};
  }
  return std::nullopt;
}

/// The groups, those farthest from the question first: what is near to it is what people know.
std::vector<std::size_t> farthest_first(const std::vector<Premise>& premises) {
  std::map<PackageId, std::vector<std::size_t>> needs;
  for (std::size_t i = 0; i < premises.size(); ++i) {
    if (premises[i].cause == Cause::need) needs[premises[i].package].push_back(i);
  }
  std::map<PackageId, std::size_t> depth{{RequirementProblem::question, 0}};
  std::vector<PackageId> order{RequirementProblem::question};
  for (std::size_t next = 0; next < order.size(); ++next) {
    const PackageId package = order[next];
    for (const std::size_t i : needs[package]) {
      if (depth.emplace(premises[i].needed, depth[package] + 1).second)
        order.push_back(premises[i].needed);
    }
  }
  std::set<std::pair<std::size_t, std::size_t>> groups;
  for (const Premise& premise : premises) {
    if (!premise.structural) groups.emplace(depth[premise.package], premise.group);
  }
  std::vector<std::size_t> farthest;
  std::set<std::size_t> seen;
  for (auto place = groups.rbegin(); place != groups.rend(); ++place) {
    if (seen.insert(place->second).second) farthest.push_back(place->second);
  }
  return farthest;
}

std::optional<ConflictCore> prove(const RequirementProblem& problem, std::vector<Premise> premises,
                                  std::uint32_t& steps) {
  PremiseProblem only(problem, premises);
  auto solution = solve(only, RequirementProblem::question);
  if (!solution) return std::nullopt;
  steps += solution->decisions + solution->conflicts;
  if (!solution->proof) return std::nullopt;
  return ConflictCore{std::move(premises), std::move(*solution)};
}

/// The premises that its proof rests on.
std::vector<Premise> used_premises(const ConflictCore& core) {
  std::set<std::uint32_t> used;
  const Solution& derivation = core.derivation;
  for (const IncompatibilityId id : premises(derivation.known, *derivation.proof)) {
    const Incompatibility& known = derivation.known[id];
    if (known.cause != Cause::root && known.cause != Cause::no_candidate) used.insert(known.reason);
  }
  std::vector<Premise> left;
  for (const std::uint32_t i : used) left.push_back(core.premises[i]);
  return left;
}

/// What is asked for can be left out one by one, else all that versions of one package need of
/// another, and all versions that are excluded for one kind of reason.
void number_groups(std::vector<Premise>& premises) {
  std::map<std::tuple<Cause, PackageId, PackageId, Reason::Kind, std::size_t>, std::size_t> groups;
  for (std::size_t i = 0; i < premises.size(); ++i) {
    Premise& premise = premises[i];
    const bool need = premise.cause == Cause::need;
    const bool alone = need ? premise.package == RequirementProblem::question
                            : premise.reason.kind == Reason::Kind::constraint;
    const std::tuple key(premise.cause, premise.package, premise.needed, premise.reason.kind,
                         alone ? i + 1 : 0);
    premise.group = groups.emplace(key, groups.size()).first->second;
  }
}

}  // namespace

std::vector<Premise> premises_of(const RequirementProblem& problem,
                                 std::span<const Incompatibility> known,
                                 const std::vector<IncompatibilityId>& ids) {
  std::vector<Premise> found;
  for (const IncompatibilityId id : ids) {
    const Incompatibility& one = known[id];
    if (one.cause == Cause::root || one.cause == Cause::derived) continue;
    Premise premise;
    premise.cause = one.cause;
    const auto owner = std::ranges::find_if(one.terms, [&](const Term& term) {
      return one.cause == Cause::objected ? !term.values.contains(not_chosen)
                                          : one.cause != Cause::need || term.package != one.needed;
    });
    const Term& of = owner == one.terms.end() ? one.terms.front() : *owner;
    premise.package = of.package;
    premise.candidates = of.values;
    if (one.cause == Cause::objected) premise.terms = one.terms;
    if (one.cause != Cause::no_candidate) premise.reason = problem.reason(one.reason);
    // A whole solution is objected to for what nobody says.
    const bool unsaid = one.cause != Cause::need && !premise.reason.error &&
                        premise.reason.kind == Reason::Kind::requirement;
    premise.structural = unsaid || one.cause == Cause::no_candidate ||
                         premise.reason.kind == Reason::Kind::extra ||
                         (premise.reason.kind == Reason::Kind::other_build &&
                          labels_of(problem, premise.package, premise.candidates).empty());
    if (one.cause == Cause::need) {
      premise.needed = one.needed;
      const IntegerSet against = one.values_of(one.needed);
      if (!against.is_all()) premise.values = against.complement();
    }
    found.push_back(std::move(premise));
  }
  return found;
}

std::vector<std::string> labels_of(const RequirementProblem& problem, PackageId project,
                                   const IntegerSet& candidates) {
  std::vector<std::string> labels;
  const auto& place = problem.packages()[project];
  if (!place.list) return labels;
  for (const NumberedRelease& numbered : std::views::reverse(place.list->releases())) {
    if (!candidates.meets(numbered.numbers())) continue;
    for (Candidate number = numbered.last - 1; number >= numbered.first; --number) {
      const BuildOption* const build = problem.option(place, number);
      if (build == nullptr || build->label.empty() || !candidates.contains(number)) continue;
      if (std::ranges::find(labels, build->label) == labels.end()) labels.push_back(build->label);
    }
  }
  return labels;
}

std::optional<ConflictCore> smallest_core(const RequirementProblem& problem,
                                          std::vector<Premise> premises) {
  std::uint32_t steps = 0;
  const auto core = prove(problem, std::move(premises), steps);
  if (!core) return std::nullopt;
  std::vector<Premise> left = used_premises(*core);
  number_groups(left);
  std::vector<std::size_t> open = farthest_first(left);
  while (!open.empty() && steps < most_steps) {
    const std::size_t group = open.front();
    open.erase(open.begin());
    std::vector<Premise> without = left;
    std::erase_if(without, [&](const Premise& premise) {
      return premise.group == group && !premise.structural;
    });
    const auto smaller = prove(problem, std::move(without), steps);
    if (!smaller) continue;
    left = used_premises(*smaller);
    std::set<std::size_t> still;
    for (const Premise& premise : left) still.insert(premise.group);
    std::erase_if(open, [&](std::size_t other) { return !still.contains(other); });
  }
  return prove(problem, std::move(left), steps);
}

}  // namespace axle::resolver
