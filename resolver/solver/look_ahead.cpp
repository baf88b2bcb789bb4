// What the search will probably ask next is sent for before it asks: pages of all that is needed,
// metadata of what would be chosen next, and pages of what that needs. Nothing here changes an
// answer or waits for one.

#include <algorithm>
#include <cstddef>
#include <string>
#include <utility>
#include <vector>

#include "index/http/while_waiting.h"
#include "resolver/solver/requirement_problem.h"
#include "wheel/requirement.h"

namespace axle::resolver {
namespace {

/// Releases without anything that fits here are passed over, but not without end.
constexpr std::size_t most_passed_over = 20;
/// What is expected at once of one package.
constexpr std::size_t largest_batch = 50;
/// Packages that are looked at before the search gets there. What needs more, as no real
/// application does, is followed by the search alone.
constexpr std::size_t most_foreseen = 2000;

/// uv's figures: whoever tried so many releases tries more.
bool begins_batch(std::size_t tried) {
  return tried == 5 || tried == 10 || (tried > 0 && tried % 20 == 0);
}

}  // namespace

void RequirementProblem::expect(const std::vector<wheel::Requirement>& requirements) {
  std::vector<std::string> names;
  for (const wheel::Requirement& requirement : requirements) {
    std::string name = wheel::normalize_name(requirement.name);
    const bool looked_up = requirement.url.empty() && !find_project(name) &&
                           urls_of(name).empty() && held_package(name) == nullptr;
    if (!looked_up) continue;
    note_foreseen(name, requirement);
    names.push_back(std::move(name));
  }
  in_.candidates.expect_releases(names);
}

void RequirementProblem::note_foreseen(const std::string& name,
                                       const wheel::Requirement& requirement) {
  Foreseen& seen = foreseen_[name];
  if (!requirement.specifiers.empty()) {
    seen.wanted.push_back(requirement.specifiers);
    seen.changed = true;
  }
  for (const std::string& extra : requirement.extras) {
    if (std::ranges::find(seen.extras, extra) != seen.extras.end()) continue;
    seen.extras.push_back(extra);
    // What it brings in is looked at again, with this one.
    if (seen.build) under_way_.push_back(*seen.build);
  }
}

void RequirementProblem::expect_needs(const std::vector<wheel::Requirement>& requirements) {
  expect(requirements);
  // On the same way: whoever waits for these pages need not wait for others after that.
  expect_needs_of_expected();
}

void RequirementProblem::expect_requested() {
  std::vector<wheel::Requirement> requirements;
  for (const Want& want : requests_.requested()) requirements.push_back(want.requirement);
  expect(requirements);
}

void RequirementProblem::look_ahead(const std::vector<PackageId>& changed,
                                    const Assignments& so_far) {
  for (const PackageId id : changed) {
    const Package& place = packages_[id];
    if (place.kind != Package::Kind::project || so_far.is_decided(id)) continue;
    const IntegerSet& values = so_far.possible(id);
    if (!values.contains(place.list->installed()))
      expect_builds(place, values, place.list->all().boundaries().back(), 1);
  }
}

void RequirementProblem::expect_builds(const Package& package, const IntegerSet& values,
                                       Candidate below, std::size_t count) {
  std::size_t passed_over = 0;
  auto next = values.last_below(below);
  while (next && *next != not_chosen && count > 0 && passed_over < most_passed_over) {
    const NumberedRelease* const numbered = package.list->release_of(*next);
    if (numbered != nullptr && expect_build(package, *numbered->release)) {
      --count;
    } else {
      ++passed_over;
    }
    next = values.last_below(numbered == nullptr ? *next : numbered->first);
  }
}

bool RequirementProblem::expect_build(const Package& package, Release& release) {
  // What a family's member is chosen by is not known before the first one is chosen.
  if (package.direct || package.family != nullptr || in_.kept.contains(package.name)) return false;
  const auto [wheel, by_variants] =
      in_.chooser.likely(demand_for(package, release, nullptr), release);
  if (by_variants) in_.candidates.expect_variants(package.name, release);
  if (wheel == nullptr) return by_variants;
  if (expected_.insert(wheel).second) {
    in_.candidates.expect_metadata(package.name, release, *wheel);
    under_way_.push_back({package.name, &release, wheel});
  }
  if (const auto seen = foreseen_.find(package.name); seen != foreseen_.end())
    seen->second.build = {package.name, &release, wheel};
  return true;
}

bool RequirementProblem::foresee_build(const std::string& name, Foreseen& seen) {
  if (!seen.list) {
    auto releases = in_.candidates.releases_at_hand(name);
    if (releases.empty()) return false;
    seen.list =
        std::make_shared<const CandidateList>(std::move(releases), nullptr, wheel::Version{});
  }
  const CandidateList& list = *seen.list;
  IntegerSet values = list.all() & list.yanked().complement();
  const Prereleases which = in_.options.prereleases;
  bool early_count = which == Prereleases::allow || admissions_.prereleases.contains(name);
  const auto narrow = [&](const wheel::SpecifierSet& specifiers) {
    if (specifiers.empty()) return;
    values = values & list.matching(specifiers);
    early_count = early_count || (count_if_named(which) && specifiers.admits_prereleases());
  };
  for (const Want& want : requests_.about(name)) narrow(want.requirement.specifiers);
  for (const wheel::SpecifierSet& wanted : seen.wanted) narrow(wanted);
  const IntegerSet final = values & list.early().complement();
  if (!early_count && (!count_if_needed(which) || !final.empty())) values = final;
  Package package;
  package.kind = Package::Kind::project;
  package.name = name;
  package.list = seen.list;
  expect_builds(package, values, list.all().boundaries().back(), 1);
  return true;
}

void RequirementProblem::foresee() {
  const index::WhileWaiting not_again(nullptr);
  if (!in_.options.dependencies || foreseen_.size() > most_foreseen) return;
  expect_needs_of_expected();
  for (auto& [name, seen] : foreseen_) {
    if (seen.changed && installed_candidate(name) == nullptr && foresee_build(name, seen))
      seen.changed = false;
  }
}

void RequirementProblem::expect_needs_of_expected() {
  if (!in_.options.dependencies) return;
  const index::WhileWaiting not_again(nullptr);
  // What is added meanwhile is looked at the next time.
  std::vector<ExpectedBuild> builds = std::exchange(under_way_, {});
  std::erase_if(builds, [&](const ExpectedBuild& build) {
    const WheelMetadata metadata =
        in_.candidates.known_metadata(build.name, *build.release, *build.wheel);
    if (metadata == nullptr) return false;
    PackageChoice choice;
    choice.requires_dist = {metadata, &metadata->requires_dist};
    choice.markers = {std::shared_ptr<void>(), &in_.target.markers};
    const auto seen = foreseen_.find(build.name);
    std::vector<std::string> extras =
        seen == foreseen_.end() ? std::vector<std::string>() : seen->second.extras;
    const auto first = ids_.lower_bound({Package::Kind::extra, build.name, {}});
    for (auto id = first; id != ids_.end() && std::get<0>(id->first) == Package::Kind::extra &&
                          std::get<1>(id->first) == build.name;
         ++id) {
      extras.push_back(std::get<2>(id->first));
    }
    expect(requests_.dependencies_of(choice, extras));
    return true;
  });
  under_way_.insert(under_way_.begin(), builds.begin(), builds.end());
}

void RequirementProblem::expect_further(PackageId package, Candidate tried,
                                        const IntegerSet& values) {
  const Package& place = packages_[package];
  const NumberedRelease* const numbered = place.list->release_of(tried);
  if (place.kind != Package::Kind::project || numbered == nullptr) return;
  // What is passed over by its name or its page costs nothing.
  if (!expect_build(place, *numbered->release)) return;
  std::set<const Release*>& releases = tried_[package];
  if (!releases.insert(numbered->release).second || !begins_batch(releases.size())) return;
  const std::size_t count = std::min(releases.size(), largest_batch);
  expect_builds(place, values, numbered->first, count);
  // Where others pin it, as they do botocore, the next older one is what comes next.
  if (values.last_below(numbered->first).value_or(not_chosen) != not_chosen) return;
  IntegerSet left = place.list->all();
  for (const Exclusion& exclusion : place.exclusions) left = left & exclusion.alike.complement();
  expect_builds(place, left, numbered->first, count);
}

}  // namespace axle::resolver
