#include "resolver/solver/resolution_search.h"

#include <algorithm>
#include <expected>
#include <ranges>
#include <tuple>
#include <utility>

#include <fmt/format.h>

#include "resolver/catalogue/version_filter.h"
#include "resolver/explain/messages.h"
#include "resolver/family/family_remarks.h"
#include "resolver/solver/conflict_solver.h"
#include "resolver/solver/failure.h"

namespace axle::resolver {
namespace {

using Kind = RequirementProblem::Package::Kind;

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

}  // namespace

ResolutionSearch::ResolutionSearch(const SolverInputs& inputs, const Requests& requests)
    : in_(inputs),
      requests_(requests, inputs.target, inputs.options, inputs.families, inputs.chooser,
                inputs.report) {}

Result<plan::Resolution> ResolutionSearch::run() {
  if (auto ok = requests_.check(); !ok) return std::unexpected(ok.error());
  while (true) {
    auto made = attempt();
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
  if (!solution) {
    if (problem.begins_again()) return std::nullopt;
    return std::unexpected(std::move(solution).error());
  }
  if (solution->proof) return fail_for(problem, *solution);
  needs_ = active_needs(*solution);
  if (!settle(problem, *solution)) return std::nullopt;
  if (takes_unasked(problem, *solution)) return std::nullopt;
  if (follows_late()) return std::nullopt;
  if (looks_for_one_label(problem, *solution)) return std::nullopt;
  if (auto ok = describe(problem, *solution); !ok) return std::unexpected(ok.error());
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
    admissions_.refused.clear();
    admissions_.refuses = false;
    return std::nullopt;
  }
  if (!admissions_.shared.empty()) {
    // There is no label that all have: unlike ones are better than nothing.
    for (const auto& [family, shared] : admissions_.shared) admissions_.unlike.insert(family);
    admissions_.shared.clear();
    return std::nullopt;
  }
  return std::unexpected(explain_conflict(problem, in_.chooser, solution.known, from));
}

bool ResolutionSearch::settle(const RequirementProblem& problem, const Solution& solution) {
  const auto project_of = [&](PackageId package) {
    const auto& place = problem.packages()[package];
    return place.kind == Kind::extra ? place.project : package;
  };
  // What only `abi_dependency` asks for is not brought in by it.
  std::set<PackageId> reached;
  std::vector<PackageId> open{RequirementProblem::question};
  while (!open.empty()) {
    const PackageId package = open.back();
    open.pop_back();
    if (!reached.insert(package).second) continue;
    for (const ActiveNeed& need : needs_) {
      if (need.owner == package && !need.if_at_all &&
          problem.reason(need.reason).kind != Reason::Kind::abi) {
        open.push_back(need.needed);
      }
    }
  }
  bool stands = true;
  for (const ActiveNeed& need : needs_) {
    if (reached.contains(need.needed) || !reached.contains(need.owner)) continue;
    if (problem.reason(need.reason).kind != Reason::Kind::abi) continue;
    if (problem.choice(need.needed, solution.chosen[need.needed]).package.already_installed)
      continue;
    admissions_.absent.insert(
        {problem.packages()[need.owner].name, problem.reason(need.reason).want.text});
    stands = false;
  }
  if (!stands) return false;

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
  return true;
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
    const bool yanked = std::ranges::all_of(release.wheels, &index::PublishedFile::yanked);
    const bool early = release.version.is_prerelease();
    if (!yanked && !early) continue;
    const IntegerSet finals =
        place.list->where([](const Release& other) { return !other.version.is_prerelease(); });
    bool asked = !yanked && (in_.options.prereleases || finals.empty());
    for (const Want& want : settled.wants) {
      const VersionFilter filter = version_filter({&want}, false);
      const bool no_final = !finals.meets(place.list->matching(want.requirement.specifiers));
      asked = asked || filter.pins(release.version) ||
              (early && !yanked && (no_final || (want.by.empty() && filter.admits_prereleases())));
    }
    if (asked) continue;
    takes =
        admissions_.refused.insert({name, wheel::render_version(release.version)}).second || takes;
  }
  return takes;
}

bool ResolutionSearch::follows_late() {
  bool late = false;
  for (const auto& [name, settled] : settled_) {
    const index::Family* family = in_.families.of(name);
    if (family == nullptr || name == family->anchor() || in_.kept.contains(name)) continue;
    if (!settled_.contains(family->anchor())) continue;
    const std::string lead = lead_label(*family);
    if (lead.empty() || admissions_.leads.contains(family)) continue;
    if (settled.choice.package.variant == lead) continue;
    admissions_.leads[family] = lead;
    late = true;
  }
  return late;
}

std::string ResolutionSearch::lead_label(const index::Family& family) const {
  const plan::InstalledPackage* installed = in_.families.installed(family.anchor());
  const auto first = settled_.find(family.anchor());
  if (first == settled_.end() || first->second.choice.package.already_installed)
    return installed == nullptr ? std::string() : in_.families.installed_label(*installed);
  const plan::ResolvedPackage& package = first->second.choice.package;
  if (package.variant) return *package.variant;
  return package.direct ? in_.families.known_local(family, package.version)
                        : in_.families.plain_label(family, family.anchor(), package.version);
}

bool ResolutionSearch::looks_for_one_label(RequirementProblem& problem, const Solution& solution) {
  bool looks = false;
  for (const auto& [name, settled] : settled_) {
    const index::Family* family = in_.families.of(name);
    const plan::ResolvedPackage& first = settled.choice.package;
    if (family == nullptr || name != family->anchor() || first.family.empty()) continue;
    if (admissions_.unlike.contains(family) || admissions_.shared.contains(family)) continue;
    if (in_.kept.contains(name) ||
        is_build_given(family, name, settled_, in_.families, in_.options))
      continue;
    const bool unlike = std::ranges::any_of(family->members, [&](const std::string& member) {
      const auto other = settled_.find(member);
      return other != settled_.end() && other->second.choice.package.variant != first.variant;
    });
    if (!unlike) continue;
    const PackageId package = *problem.find_project(name);
    const auto& place = problem.packages()[package];
    const Candidate chosen = solution.chosen[package];
    const Release& release = *place.list->release_of(chosen)->release;
    admissions_.shared[family] = {settled.choice.release,
                                  problem.tier(place, release, *problem.option(place, chosen))};
    looks = true;
  }
  return looks;
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
  for (const ActiveNeed& need : needs_) {
    if (need.needed == package) wanted = wanted & need.values;
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
  const Pass pass{build.fallback, build.unknown ? UnknownBuilds::counts : UnknownBuilds::never};
  const auto is_it = [&](const std::expected<PackageChoice, Error>& made) {
    return made.has_value() && made->package.variant.value_or("") == build.label;
  };
  auto made = in_.chooser.take(demand, release, pass);
  if (!made) return std::unexpected(std::move(made).error());
  if (!is_it(*made)) {
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
  const IntegerSet wanted = wanted_of(problem, package);
  IntegerSet counted = wanted;
  for (const Exclusion& exclusion : problem.exclusions(package))
    counted = counted & exclusion.alike.complement();
  std::vector<Release*> releases;
  for (const NumberedRelease& numbered : std::views::reverse(list.releases())) {
    if (counted.meets(numbered.numbers())) releases.push_back(numbered.release);
  }
  if (auto ok = in_.chooser.remark(demand, releases, pass, choice); !ok) return ok;
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
  const Incompatibility* why = nullptr;
  IncompatibilityId why_id = no_incompatibility;
  Candidate newest = chosen;
  for (IncompatibilityId id = 0; id < solution.known.size(); ++id) {
    const Incompatibility& known = solution.known[id];
    // What is wrong with a release itself is said already, and what follows from that alone.
    if (known.cause == Cause::excluded || known.cause == Cause::no_candidate) continue;
    if (known.cause == Cause::derived && known.terms.size() < 2) continue;
    const IntegerSet values = known.values_of(package);
    if (values.is_all() || values.contains(chosen)) continue;
    const IntegerSet barred = values & wanted;
    const auto last = barred.last_below(end);
    if (!last || *last <= newest) continue;
    const bool holds = std::ranges::all_of(known.terms, [&](const Term& term) {
      const Candidate other =
          term.package < solution.chosen.size() ? solution.chosen[term.package] : not_chosen;
      return term.package == package || term.values.contains(other);
    });
    if (!holds) continue;
    why = &known;
    why_id = id;
    newest = *last;
  }
  if (why == nullptr) return;
  const wheel::Version& version = place.list->version_of(newest);
  if (version == settled.choice.release) return;
  const Error error =
      explain_conflict(problem, in_.chooser, solution.known, premises(solution.known, why_id));
  settled.choice.remarks.push_back(
      {Severity::note, fmt::format("{} {} is chosen, not {}: {}", place.name,
                                   wheel::render_version(settled.choice.package.version),
                                   wheel::render_version(version), error.message)});
}

}  // namespace axle::resolver
