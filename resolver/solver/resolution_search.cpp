#include "resolver/solver/resolution_search.h"

#include <algorithm>
#include <expected>
#include <ranges>
#include <tuple>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "resolver/catalogue/version_filter.h"
#include "resolver/explain/messages.h"
#include "resolver/family/family_remarks.h"
#include "resolver/solver/conflict_solver.h"
#include "resolver/solver/failure.h"

namespace axle::resolver {
namespace {

using Kind = RequirementProblem::Package::Kind;

/// More packages are not followed to say why something that is needed is not part of the solution.
constexpr std::size_t most_absent = 32;

/// All but the term of `package` holds in the solution.
bool others_hold(const Solution& solution, const Incompatibility& known, PackageId package) {
  return std::ranges::all_of(known.terms, [&](const Term& term) {
    return term.package == package || term.values.contains(solution.value_of(term.package));
  });
}

std::vector<ActiveNeed> active_needs(const Solution& solution) {
  std::vector<ActiveNeed> active;
  std::set<std::tuple<PackageId, PackageId, std::uint32_t>> seen;
  for (const Incompatibility& known : solution.known) {
    if (known.cause != Cause::need) continue;
    const auto owner = std::ranges::find_if(
        known.terms, [&](const Term& term) { return term.package != known.needed; });
    if (owner == known.terms.end() || owner->package >= solution.chosen.size()) continue;
    const Candidate chosen = solution.chosen[owner->package];
    if (chosen == not_chosen || !owner->values.contains(chosen)) continue;
    if (!seen.insert({owner->package, known.needed, known.reason}).second) continue;
    const IntegerSet values = known.values_of(known.needed).complement();
    active.push_back(
        {owner->package, known.needed, known.reason, values, values.contains(not_chosen)});
  }
  return active;
}

/// All its wheels that fit here are plain ones, and what is wanted of them was known at once.
bool is_plain(const RequirementProblem::Package& place, const Release& release,
              const PackageDemand& demand) {
  return place.family == nullptr && release.family == nullptr && !release.direct &&
         !release.built && demand.rule == LabelRule::best &&
         release.parsed != Release::Parsed::none && !release.summary().yanked_wheels &&
         std::ranges::none_of(release.candidates, &CandidateWheel::is_variant) &&
         std::ranges::all_of(demand.wants, [](const Want* want) { return want->hashes.empty(); });
}

Error gave_up(const RequirementProblem& problem, const std::vector<PackageId>& over) {
  std::vector<std::string> names;
  for (const PackageId package : over) {
    const auto& place = problem.packages()[package];
    if (place.kind == Kind::backend || place.name.empty()) continue;
    if (std::ranges::find(names, place.name) == names.end()) names.push_back(place.name);
  }
  Error error{ErrorKind::conflict, "no solution was found in reasonable time", {}};
  if (names.empty()) return error;
  error.message += fmt::format("; most conflicts were about {}", fmt::join(names, ", "));
  error.hint =
      fmt::format("state which versions you want, for example `{}>=VERSION`", names.front());
  return error;
}

}  // namespace

ResolutionSearch::ResolutionSearch(const SolverInputs& inputs, const Requests& requests)
    : in_(inputs),
      requests_(requests, inputs.target, inputs.options, inputs.families, inputs.chooser,
                inputs.report) {}

Result<plan::Resolution> ResolutionSearch::run() {
  if (auto ok = requests_.check(); !ok) return std::unexpected(ok.error());
  for (bool first = true;; first = false) {
    auto made =
        first && is_satisfied() ? Result<std::optional<plan::Resolution>>(outcome()) : attempt();
    if (!made) return std::unexpected(std::move(made).error());
    if (!*made) continue;
    if (auto ok = check_required(); !ok) return std::unexpected(ok.error());
    if (auto ok = check_hashes(); !ok) return std::unexpected(ok.error());
    return std::move(**made);
  }
}

Result<std::optional<plan::Resolution>> ResolutionSearch::attempt() {
  settled_.clear();
  RequirementProblem problem(in_, requests_, admissions_);
  auto solution = solve(problem, RequirementProblem::question);
  tried_ += problem.tried();
  if (!solution) {
    if (problem.begins_again()) return std::nullopt;
    return std::unexpected(std::move(solution).error());
  }
  if (solution->gave_up_over) {
    if (!refusal_) return std::unexpected(gave_up(problem, *solution->gave_up_over));
    conflict_ = std::move(refusal_->conflict);
    return std::unexpected(std::move(refusal_->error));
  }
  if (solution->proof) return fail_for(problem, *solution);
  index_knowledge(problem, *solution);
  settle(problem, *solution);
  if (takes_unasked(problem, *solution)) return std::nullopt;
  if (follows_late()) return std::nullopt;
  const auto begins_again = weighs_mixture(problem, *solution);
  if (!begins_again) return std::unexpected(begins_again.error());
  if (*begins_again) return std::nullopt;
  const auto gives_up = gives_up_gpu(problem);
  if (!gives_up) return std::unexpected(gives_up.error());
  if (*gives_up) return std::nullopt;
  if (auto ok = describe(problem, *solution); !ok) return std::unexpected(ok.error());
  warn_of_last_resort();
  remark_on_families(settled_, in_.families, in_.report);
  return outcome();
}

Result<std::optional<plan::Resolution>> ResolutionSearch::fail_for(RequirementProblem& problem,
                                                                   const Solution& solution) {
  const std::vector<IncompatibilityId> from = premises(solution.known, *solution.proof);
  const std::vector<std::string> held = held_packages(problem, solution.known, from);
  admissions_.movable.insert(held.begin(), held.end());
  if (!held.empty()) return std::nullopt;
  if (!admissions_.refused.empty()) {
    if (problem.gave_up_links() && !admissions_.links_with_others) {
      admissions_.links_with_others = true;
      return std::nullopt;
    }
    if (admits_builds(problem, solution.known, from)) return std::nullopt;
    // Others may do instead, of packages that are asked for later.
    (void)admits_prereleases(problem, solution.known, from);
    for (const auto& [name, version] : admissions_.refused) last_resort_.insert(name);
    admissions_.refused.clear();
    admissions_.refuses = false;
    admissions_.builds = false;  // wheels may do now
    return std::nullopt;
  }
  if (!refusal_) refusal_ = explain_conflict(problem, in_.chooser, solution.known, from);
  if (problem.gave_up_links() && !admissions_.links_with_others) {
    admissions_.links_with_others = true;
    return std::nullopt;
  }
  if (admits_yanked(problem, solution.known, from)) return std::nullopt;
  const bool of_backends = std::ranges::any_of(from, [&](IncompatibilityId id) {
    const Cause cause = solution.known[id].cause;
    if (cause == Cause::root || cause == Cause::no_candidate) return false;
    const Reason::Kind kind = problem.reason(solution.known[id].reason).kind;
    return kind == Reason::Kind::platform || kind == Reason::Kind::backend;
  });
  if (of_backends && apart_ == Apart::not_tried) {
    apart_ = Apart::refused;
    admissions_.mixed = true;
    return std::nullopt;
  }
  if (admits_builds(problem, solution.known, from)) {
    refusal_.reset();
    return std::nullopt;
  }
  if (admits_prereleases(problem, solution.known, from)) {
    admissions_.builds = false;  // wheels may do now
    return std::nullopt;
  }
  conflict_ = std::move(refusal_->conflict);
  return std::unexpected(std::move(refusal_->error));
}

void ResolutionSearch::index_knowledge(const RequirementProblem& problem,
                                       const Solution& solution) {
  needs_ = active_needs(solution);
  needed_.assign(solution.chosen.size(), {});
  for (std::size_t i = 0; i < needs_.size(); ++i) {
    const auto& place = problem.packages()[needs_[i].needed];
    needed_[place.kind == Kind::extra ? place.project : needs_[i].needed].push_back(i);
  }
  known_about_.assign(solution.chosen.size(), {});
  for (IncompatibilityId id = 0; id < solution.known.size(); ++id) {
    for (const Term& term : solution.known[id].terms) known_about_[term.package].push_back(id);
  }
}

void ResolutionSearch::settle(const RequirementProblem& problem, const Solution& solution) {
  const auto project_of = [&](PackageId package) {
    const auto& place = problem.packages()[package];
    return place.kind == Kind::extra ? place.project : package;
  };
  std::vector<std::vector<PackageId>> brought_in(solution.chosen.size());
  for (const ActiveNeed& need : needs_) {
    if (!need.if_at_all) brought_in[need.owner].push_back(need.needed);
  }
  std::set<PackageId> reached;
  std::vector<PackageId> open{RequirementProblem::question};
  while (!open.empty()) {
    const PackageId package = open.back();
    open.pop_back();
    if (!reached.insert(package).second) continue;
    open.insert(open.end(), brought_in[package].begin(), brought_in[package].end());
  }
  for (const PackageId package : reached) {
    const auto& place = problem.packages()[package];
    if (place.kind != Kind::project) continue;
    SettledPackage& settled = settled_[place.name];
    settled.choice = problem.choice(package, solution.chosen[package]);
    for (const Want& want : requests_.about(place.name)) {
      if (want.constraint) settled.wants.push_back(want);
    }
  }
  for (const ActiveNeed& need : needs_) {
    const PackageId package = project_of(need.needed);
    const auto& place = problem.packages()[package];
    if (!reached.contains(package) || !reached.contains(need.owner) || place.kind != Kind::project)
      continue;
    const Reason& reason = problem.reason(need.reason);
    if (reason.kind != Reason::Kind::requirement) continue;
    SettledPackage& settled = settled_.at(place.name);
    const auto& asked = problem.packages()[need.needed];
    if (asked.kind == Kind::extra) {
      if (std::ranges::find(settled.extras, asked.extra) == settled.extras.end())
        settled.extras.push_back(asked.extra);
      continue;
    }
    Want want = reason.want;
    const PackageId owner = project_of(need.owner);
    const auto& by = problem.packages()[owner];
    if (by.kind == Kind::project) {
      want.by_version =
          wheel::render_version(problem.choice(owner, solution.chosen[owner]).package.version);
    }
    settled.wants.push_back(std::move(want));
  }
}

bool ResolutionSearch::takes_unasked(const RequirementProblem& problem, const Solution& solution) {
  if (!admissions_.refuses) return false;
  bool takes = false;
  for (const auto& [name, settled] : settled_) {
    const PackageId package = *problem.find_project(name);
    const auto& place = problem.packages()[package];
    const NumberedRelease* numbered = place.list->release_of(solution.chosen[package]);
    if (place.direct || numbered == nullptr) continue;
    const Release& release = *numbered->release;
    if (!release.version.is_prerelease()) continue;
    const IntegerSet finals = place.list->where([](const Release&) { return true; }) &
                              (place.list->early() | place.list->yanked()).complement();
    const Prereleases which = in_.options.prereleases;
    bool asked = which == Prereleases::allow || (count_if_needed(which) && finals.empty());
    for (const Want& want : settled.wants) {
      const VersionFilter filter = version_filter({&want}, which);
      const bool no_final = !finals.meets(place.list->matching(want.requirement.specifiers));
      asked = asked || (want.by.empty() && filter.admits_prereleases()) ||
              (count_if_needed(which) && (filter.pins(release.version) || no_final));
    }
    if (asked) continue;
    takes =
        admissions_.refused.insert({name, wheel::render_version(release.version)}).second || takes;
  }
  return takes;
}

std::optional<wheel::Version> ResolutionSearch::version_of(const std::string& name) const {
  if (const auto found = settled_.find(name); found != settled_.end())
    return found->second.choice.package.version;
  const plan::InstalledPackage* installed = in_.families.installed(name);
  if (installed != nullptr) return installed->version;
  return std::nullopt;
}

Result<void> ResolutionSearch::describe(RequirementProblem& problem, const Solution& solution) {
  for (auto& [name, settled] : settled_) {
    const PackageId package = *problem.find_project(name);
    if (!settled.choice.package.already_installed) {
      if (auto ok = describe(problem, solution, package, settled); !ok) return ok;
    }
    std::ranges::sort(settled.extras);
    if (!settled.choice.extras) continue;
    for (const std::string& extra : settled.extras) {
      if (std::ranges::find(*settled.choice.extras, extra) != settled.choice.extras->end())
        continue;
      in_.report.warn(fmt::format("{} {} has no extra {}", name,
                                  wheel::render_version(settled.choice.package.version), extra));
    }
  }
  return {};
}

IntegerSet ResolutionSearch::wanted_of(const RequirementProblem& problem, PackageId package) const {
  IntegerSet wanted = problem.packages()[package].list->all();
  for (const std::size_t i : needed_[package]) {
    // That an extra goes with the very candidate is no wish, nor is what others were built for.
    const Reason::Kind kind = problem.reason(needs_[i].reason).kind;
    if (kind != Reason::Kind::extra && kind != Reason::Kind::abi)
      wanted = wanted & needs_[i].values;
  }
  return wanted;
}

PackageDemand ResolutionSearch::described_demand(const RequirementProblem& problem,
                                                 PackageId package, const Release& release,
                                                 const BuildOption& build,
                                                 const SettledPackage& settled) const {
  const auto& place = problem.packages()[package];
  PackageDemand demand = problem.demand_for(place, release, &build);
  demand.wants = binding_wants(place.name, settled.wants);
  demand.version_of = [this](const std::string& other) { return version_of(other); };
  if (demand.rule == LabelRule::kept) return demand;
  if (demand.rule == LabelRule::shared) {
    demand.rule = LabelRule::best;
    demand.label.clear();
  }
  const index::Family* family = place.family;
  if (family == nullptr) return demand;
  std::string lead =
      place.name == family->anchor() ? problem.given_label(*family) : lead_label(*family);
  if (lead.empty()) return demand;
  demand.rule = LabelRule::follow;
  demand.label = std::move(lead);
  return demand;
}

Result<void> ResolutionSearch::describe(RequirementProblem& problem, const Solution& solution,
                                        PackageId package, SettledPackage& settled) {
  const auto& place = problem.packages()[package];
  const CandidateList& list = *place.list;
  const Candidate chosen = solution.chosen[package];
  Release& release = *list.release_of(chosen)->release;
  const BuildOption& build = *problem.option(place, chosen);
  PackageDemand demand = described_demand(problem, package, release, build, settled);
  const bool plain = is_plain(place, release, demand);
  const Pass pass{build.fallback, build.unknown ? UnknownBuilds::counts : UnknownBuilds::never};
  const auto is_it = [&](const std::expected<PackageChoice, Error>& made) {
    return made.has_value() && made->package.variant.value_or("") == build.label;
  };
  // How a plain wheel is chosen depends on nothing that was found out since.
  auto made = plain ? Result<std::expected<PackageChoice, Error>>(std::move(settled.choice))
                    : in_.chooser.take(demand, release, pass);
  if (!made) return std::unexpected(std::move(made).error());
  const bool by_ranking = is_it(*made);
  if (!by_ranking) {
    // The ranking alone would take another build: one that does not go with the rest.
    PackageDemand exactly = problem.demand_for(place, release, &build);
    exactly.wants = demand.wants;
    exactly.version_of = demand.version_of;
    const std::string better = made->has_value() ? (*made)->package.variant.value_or("") : "";
    made = in_.chooser.take(exactly, release);
    if (!made) return std::unexpected(std::move(made).error());
    if (made->has_value() && !better.empty() && place.family == nullptr) {
      (*made)->remarks.push_back(
          {Severity::note,
           fmt::format("{} {} is chosen with {} instead of variant {}, which does not go with the "
                       "other requirements",
                       place.name, wheel::render_version(release.version),
                       build.label.empty() ? "its plain wheel" : "variant " + build.label,
                       better)});
    }
  }
  if (!is_it(*made)) return {};
  PackageChoice& choice = **made;
  if (demand.rule == LabelRule::follow) choice.followed_label = demand.label;
  if (!in_.options.remarks) {
    settled.choice = std::move(choice);
    return {};
  }
  const IntegerSet wanted = wanted_of(problem, package);
  IntegerSet counted = wanted;
  for (const Exclusion& exclusion : problem.exclusions(package))
    counted = counted & exclusion.alike.complement();
  std::vector<Release*> releases;
  for (const NumberedRelease* const numbered : std::views::reverse(list.releases_in(counted))) {
    // Another local version of the same version is another build, for another torch perhaps.
    const bool other_build =
        place.family == nullptr && numbered->release != &release &&
        wheel::compare_public(numbered->release->version, release.version) == 0;
    if (!other_build) releases.push_back(numbered->release);
  }
  if (by_ranking && place.family == nullptr && release.family == nullptr && !releases.empty() &&
      releases.front() == &release) {
    in_.chooser.remark_on_first(demand, choice);
  } else if (auto ok = in_.chooser.remark(demand, releases, pass, choice); !ok) {
    return ok;
  }
  settled.choice = std::move(choice);
  remark_on_conflict(problem, solution, package, settled);
  return {};
}

void ResolutionSearch::remark_on_conflict(RequirementProblem& problem, const Solution& solution,
                                          PackageId package, SettledPackage& settled) const {
  const auto& place = problem.packages()[package];
  const Candidate end = place.list->all().boundaries().back();
  const Candidate chosen = solution.chosen[package];
  const IntegerSet wanted = wanted_of(problem, package);
  if (wanted.last_below(end) == chosen) return;
  // The newest release that something else speaks against.
  IncompatibilityId why = no_incompatibility;
  Candidate newest = chosen;
  for (const IncompatibilityId id : known_about_[package]) {
    const Incompatibility& known = solution.known[id];
    // What is wrong with a release itself is said already, and what follows from that alone.
    if (known.cause == Cause::excluded || known.cause == Cause::no_candidate) continue;
    if (known.cause == Cause::derived && known.terms.size() < 2) continue;
    const IntegerSet values = known.values_of(package);
    if (values.is_all() || values.contains(chosen)) continue;
    const IntegerSet barred = values & wanted;
    const auto last = barred.last_below(end);
    if (!last || *last < newest || !others_hold(solution, known, package)) continue;
    // What is there only because of the chosen release says nothing of another one.
    const bool says_more = why != no_incompatibility && is_needed_by_others(known, package) &&
                           !is_needed_by_others(solution.known[why], package);
    if (*last == newest && !says_more) continue;
    why = id;
    newest = *last;
  }
  if (why == no_incompatibility) return;
  const wheel::Version& version = place.list->version_of(newest);
  if (version == settled.choice.release) return;
  const std::vector<IncompatibilityId> reasons = what_rules_out(solution, package, why);
  std::vector<InTheWay> others;
  for (const IncompatibilityId id : reasons) {
    for (const Term& term : solution.known[id].terms) {
      const bool listed =
          std::ranges::find(others, term.package, &InTheWay::package) != others.end();
      if (term.package != package && !listed && solution.value_of(term.package) != not_chosen)
        others.push_back(in_the_way(problem, solution, term.package, package));
    }
  }
  settled.choice.remarks.push_back(
      {Severity::note, fmt::format("{} {} is chosen, not {}: {}", place.name,
                                   wheel::render_version(settled.choice.package.version),
                                   wheel::render_version(version),
                                   why_not_chosen(problem, in_.chooser, solution.known, reasons,
                                                  package, newest, others))});
}

bool ResolutionSearch::is_needed_by_others(const Incompatibility& known, PackageId package) const {
  return std::ranges::all_of(known.terms, [&](const Term& term) {
    return term.package == package || term.package == RequirementProblem::question ||
           std::ranges::any_of(needs_, [&](const ActiveNeed& need) {
             return need.needed == term.package && need.owner != package;
           });
  });
}

std::vector<IncompatibilityId> ResolutionSearch::what_rules_out(const Solution& solution,
                                                                PackageId package,
                                                                IncompatibilityId why) const {
  std::vector<IncompatibilityId> found{why};
  std::set<PackageId> seen{package};
  for (std::size_t next = 0; next < found.size() && seen.size() < most_absent; ++next) {
    const Incompatibility& known = solution.known[found[next]];
    // What is needed, and why it is not part of the solution: that is what is known about it.
    if (known.cause != Cause::need || solution.value_of(known.needed) != not_chosen ||
        !seen.insert(known.needed).second)
      continue;
    for (const IncompatibilityId id : known_about_[known.needed]) {
      const Incompatibility& about = solution.known[id];
      if (!about.values_of(known.needed).contains(not_chosen) &&
          others_hold(solution, about, known.needed))
        found.push_back(id);
    }
  }
  return found;
}

InTheWay ResolutionSearch::in_the_way(const RequirementProblem& problem, const Solution& solution,
                                      PackageId package, PackageId of) const {
  InTheWay made{package, solution.chosen[package]};
  for (const ActiveNeed& need : needs_) {
    const Reason& reason = problem.reason(need.reason);
    const bool told =
        reason.kind == Reason::Kind::requirement || reason.kind == Reason::Kind::platform;
    if (need.needed != package || need.owner == of || !told) continue;
    made.reasons.push_back(reason);
    made.allowed.push_back(need.values);
    const auto& owner = problem.packages()[need.owner];
    // A platform's reason says the version of whoever needs it.
    if (owner.kind != Kind::question && reason.kind == Reason::Kind::requirement)
      made.reasons.back().want.by_version = problem.render_version(
          owner.kind == Kind::extra ? owner.project : need.owner, solution.chosen[need.owner]);
  }
  return made;
}

}  // namespace axle::resolver
