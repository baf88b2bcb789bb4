// What builds were linked with (`abi_dependency`): it must be there, but a build does not bring it
// in. Needs cannot say that, so it is looked at in whole solutions.

#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "resolver/catalogue/version_filter.h"
#include "resolver/solver/requirement_problem.h"

namespace axle::resolver {

namespace {

Candidate chosen_of(const Assignments& solution, PackageId package) {
  const bool decided = package < solution.package_count() && solution.is_decided(package);
  return decided ? solution.possible(package).boundaries().front() : not_chosen;
}

}  // namespace

std::optional<Objection> RequirementProblem::objection(const Assignments& solution) {
  if (auto objection = yanked_unasked(solution)) return objection;
  if (auto objection = link_without_target(solution)) return objection;
  if (auto objection = built_for_another(solution)) return objection;
  if (auto objection = for_another_platform(solution)) return objection;
  return chosen_by_nobody(solution);
}

std::optional<Objection> RequirementProblem::link_without_target(const Assignments& solution) {
  for (const auto& [place, choice] : choices_) {
    const auto& [package, candidate] = place;
    if (chosen_of(solution, package) != candidate) continue;
    for (const wheel::AbiNeed& abi : choice.abi_needs) {
      const auto other = find_project(abi.package);
      if (other && chosen_of(solution, *other) != not_chosen) continue;
      const plan::InstalledPackage* there = in_.families.installed(abi.package);
      if (there != nullptr && std::ranges::any_of(abi.any_of, [&](const wheel::SpecifierSet& one) {
            return one.contains(there->version);
          })) {
        continue;
      }
      Error why{ErrorKind::unsupported,
                fmt::format("it was built for {}, which is not part of this", abi.text),
                fmt::format("request {} as well", abi.package)};
      const std::uint32_t reason = remember({Reason::Kind::unusable, {}, std::move(why)});
      const Term build{package, IntegerSet::one(candidate)};
      if (other && admissions_.links_with_others)
        return Objection{{build, {*other, IntegerSet::one(not_chosen)}}, reason};
      gave_up_links_ = true;
      return Objection{{build}, reason};
    }
  }
  return std::nullopt;
}

bool RequirementProblem::note_askers(PackageId package, const Needs& needs) {
  bool known = true;
  const Package& owner = packages_[package];
  if (!owner.list) return known;
  for (const Need& need : needs.needs) {
    const Package& place = packages_[need.package];
    const Reason& reason = reasons_[need.reason];
    const bool may_pin = reason.kind == Reason::Kind::requirement && !need.values.empty() &&
                         place.kind == Package::Kind::project && !place.direct &&
                         need.values.meets(place.list->yanked());
    if (!may_pin) continue;
    for (const NumberedRelease* numbered :
         place.list->releases_in(need.values & place.list->yanked())) {
      const wheel::Version& version = numbered->release->version;
      if (!version_filter({&reason.want}).pins(version)) continue;
      const std::pair key(place.name, wheel::render_version(version));
      IntegerSet& pinning = admissions_.askers[key][{owner.name, owner.extra}][owner.list.get()];
      const IntegerSet more = pinning | needs.alike;
      if (more == pinning) continue;
      pinning = more;
      known = known && !unasked_.contains(key);
    }
  }
  return known;
}

std::optional<Objection> RequirementProblem::yanked_unasked(const Assignments& solution) {
  for (PackageId package = 0; package < packages_.size(); ++package) {
    const Package& place = packages_[package];
    const Candidate chosen = chosen_of(solution, package);
    if (place.kind != Package::Kind::project || place.direct || chosen == not_chosen) continue;
    const NumberedRelease* const numbered = place.list->release_of(chosen);
    if (numbered == nullptr || !place.list->yanked().contains(chosen)) continue;
    const std::string name = place.name;
    const wheel::Version& version = numbered->release->version;
    if (version_filter(wants_about(name)).pins(version)) continue;
    Objection objection{{{package, numbered->numbers()}}, 0};
    bool asked = false;
    const std::pair key(name, wheel::render_version(version));
    for (const auto& [of, by_list] : admissions_.askers[key]) {
      // Whoever is not looked up yet may come into the search later.
      const auto owner = of.second.empty() ? project(of.first) : extra(of.first, of.second);
      if (!owner) continue;
      const auto pinning = by_list.find(packages_[*owner].list.get());
      if (pinning == by_list.end()) continue;
      asked = asked || pinning->second.contains(chosen_of(solution, *owner));
      objection.terms.push_back({*owner, pinning->second.complement()});
    }
    if (asked) continue;
    unasked_.insert(key);
    objection.reason = remember({Reason::Kind::not_asked});
    return objection;
  }
  return std::nullopt;
}

std::optional<Objection> RequirementProblem::chosen_by_nobody(const Assignments& solution) const {
  std::set<PackageId> reached;
  std::vector<PackageId> open{question};
  while (!open.empty()) {
    const PackageId package = open.back();
    open.pop_back();
    if (!reached.insert(package).second) continue;
    const auto& brought_in = brought_in_.at({package, chosen_of(solution, package)});
    open.insert(open.end(), brought_in.begin(), brought_in.end());
  }
  for (PackageId package = 0; package < packages_.size(); ++package) {
    if (reached.contains(package) || chosen_of(solution, package) == not_chosen) continue;
    // As long as all that is reached keeps to candidates that ask for nothing outside of it,
    // nothing else brings this one in.
    std::map<PackageId, IntegerSet> same;
    for (const auto& [place, brought_in] : brought_in_) {
      const auto& [owner, candidate] = place;
      if (owner == question || !reached.contains(owner)) continue;
      const bool stays_inside =
          std::ranges::all_of(brought_in, [&](PackageId asked) { return reached.contains(asked); });
      IntegerSet& values = same.try_emplace(owner, IntegerSet::one(not_chosen)).first->second;
      if (stays_inside) values = values | IntegerSet::one(candidate);
    }
    Objection objection{{{package, IntegerSet::from(1)}}, 0};
    for (auto& [owner, values] : same) objection.terms.push_back({owner, std::move(values)});
    return objection;
  }
  return std::nullopt;
}

}  // namespace axle::resolver
