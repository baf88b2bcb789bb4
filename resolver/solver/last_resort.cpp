// What counts only where nothing else is left: what is built from source with the user's consent,
// yanked releases that nobody is known to pin, and pre-releases.

#include <algorithm>

#include <fmt/format.h>

#include "resolver/solver/resolution_search.h"

namespace axle::resolver {
namespace {

/// Packages of which the `which` releases were left out, on which a failure rests.
std::set<std::string> left_out(const RequirementProblem& problem,
                               const std::vector<Incompatibility>& known,
                               const std::vector<IncompatibilityId>& from,
                               const IntegerSet& (CandidateList::*which)() const) {
  std::set<std::string> names;
  for (const IncompatibilityId id : from) {
    const Incompatibility& premise = known[id];
    if (premise.cause != Cause::excluded || premise.terms.size() != 1) continue;
    const auto& place = problem.packages()[premise.terms.front().package];
    if (place.kind != RequirementProblem::Package::Kind::project || place.direct) continue;
    if (premise.terms.front().values.meets((*place.list.*which)())) names.insert(place.name);
  }
  return names;
}

}  // namespace

bool ResolutionSearch::admits_builds(const RequirementProblem& problem,
                                     const std::vector<Incompatibility>& known,
                                     const std::vector<IncompatibilityId>& from) {
  if (admissions_.builds) return false;
  admissions_.builds = std::ranges::any_of(from, [&](IncompatibilityId id) {
    const Incompatibility& premise = known[id];
    if (premise.cause != Cause::excluded || premise.terms.size() != 1) return false;
    const auto& place = problem.packages()[premise.terms.front().package];
    if (place.kind != RequirementProblem::Package::Kind::project || place.direct ||
        !in_.options.may_build(place.name))
      return false;
    return std::ranges::any_of(
        place.list->releases_in(premise.terms.front().values),
        [](const NumberedRelease* numbered) { return numbered->release->summary().sdists > 0; });
  });
  return admissions_.builds;
}

bool ResolutionSearch::admits_yanked(const RequirementProblem& problem,
                                     const std::vector<Incompatibility>& known,
                                     const std::vector<IncompatibilityId>& from) {
  const std::size_t before = admissions_.yanked.size();
  admissions_.yanked.merge(left_out(problem, known, from, &CandidateList::yanked));
  return admissions_.yanked.size() > before;
}

bool ResolutionSearch::admits_prereleases(const RequirementProblem& problem,
                                          const std::vector<Incompatibility>& known,
                                          const std::vector<IncompatibilityId>& from) {
  if (!count_if_needed(in_.options.prereleases)) return false;
  bool more = false;
  for (const std::string& name : left_out(problem, known, from, &CandidateList::early)) {
    if (!admissions_.prereleases.insert(name).second) continue;
    last_resort_.insert(name);
    more = true;
  }
  return more;
}

void ResolutionSearch::warn_of_last_resort() {
  for (auto& [name, settled] : settled_) {
    PackageChoice& choice = settled.choice;
    if (choice.package.already_installed || !choice.release.is_prerelease()) continue;
    if (!last_resort_.contains(name)) continue;
    choice.remarks.push_back(
        {Severity::warning,
         fmt::format("{} {} is a pre-release: no final release goes with the other requirements",
                     name, wheel::render_version(choice.package.version))});
  }
}

}  // namespace axle::resolver
