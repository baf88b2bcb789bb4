// What candidates need: their requirements, their extras, their family, what they were linked with.

#include <algorithm>
#include <cstddef>
#include <utility>

#include <fmt/format.h>

#include "index/http/url.h"
#include "index/http/while_waiting.h"
#include "resolver/explain/messages.h"
#include "resolver/family/device_packages.h"
#include "resolver/solver/requirement_problem.h"

namespace axle::resolver {

Result<std::optional<Error>> RequirementProblem::add(std::vector<Need>& needs, Want want,
                                                     Reason::Kind kind) {
  const std::string name = wheel::normalize_name(want.requirement.name);
  const std::string& url = want.requirement.url;
  if (!url.empty() && !want.by.empty()) {
    std::vector<const Want*> all = wants_about(name);
    all.push_back(&want);
    if (foreign_url(all) != nullptr) return url_not_named(name, want);
    // Two URLs of one package are two wheels that must be of one release: neither is left out.
    const bool known = std::ranges::any_of(urls_of(name), [&](const std::string& other) {
      return index::without_fragment(other) == index::without_fragment(url);
    });
    if (!known && admissions_.urls[name].insert(url).second) return begin_again();
  }
  const auto id = project(name);
  if (!id) return std::unexpected(id.error());
  auto values = allowed(packages_[*id], want);
  if (!values) return std::unexpected(std::move(values).error());
  const std::vector<std::string> extras = want.requirement.extras;
  const bool if_at_all = want.constraint;
  const std::uint32_t reason = remember({kind, std::move(want)});
  needs.push_back({*id, if_at_all ? *values | IntegerSet::one(not_chosen) : *values, reason});
  if (if_at_all) return std::nullopt;
  for (const std::string& name_of_extra : extras) {
    const auto proxy = extra(name, name_of_extra);
    if (!proxy) return std::unexpected(proxy.error());
    needs.push_back({*proxy, *values, reason});
  }
  return std::nullopt;
}

Result<std::variant<Needs, Exclusion>> RequirementProblem::needs_of_question() {
  Needs needs{IntegerSet::one(1), {}};
  expect_requested();
  for (const Want& want : requests_.requested()) {
    const auto refused = add(needs.needs, want, Reason::Kind::requirement);
    if (!refused) return std::unexpected(refused.error());
    if (*refused) return std::unexpected(**refused);
  }
  return needs;
}

Result<std::variant<Needs, Exclusion>> RequirementProblem::needs_of_extra(PackageId package,
                                                                          Candidate candidate) {
  const Package place = packages_[package];
  if (const auto range = extra_ranges_.find(package); range != extra_ranges_.end()) {
    Needs needs{range->second, {{place.project, range->second, remember({Reason::Kind::extra})}}};
    extra_ranges_.erase(range);
    return needs;
  }
  Needs needs{IntegerSet::one(candidate),
              {{place.project, IntegerSet::one(candidate), remember({Reason::Kind::extra})}}};
  const auto taken = take(place.project, candidate);
  if (!taken) return std::unexpected(taken.error());
  const auto* const choice = std::get_if<const PackageChoice*>(&*taken);
  if (choice == nullptr || !in_.options.dependencies) return needs;
  const auto requirements = requests_.dependencies_of_extra(**choice, place.extra);
  expect_needs(requirements);
  for (const wheel::Requirement& requirement : requirements) {
    const auto refused = add_dependency(needs.needs, **choice, requirement);
    if (!refused) return std::unexpected(refused.error());
    if (*refused) return std::unexpected(**refused);
  }
  return needs;
}

Result<std::optional<Error>> RequirementProblem::add_dependency(
    std::vector<Need>& needs, const PackageChoice& choice, const wheel::Requirement& requirement) {
  const std::string& owner = choice.package.name;
  Want want{in_.chooser.with_assigned_url(requirement), owner,
            wheel::render_version(choice.package.version), false};
  want.by_direct = choice.package.direct || want.requirement.url != requirement.url;
  // What a package says of itself only adds extras.
  if (wheel::normalize_name(requirement.name) == owner) {
    want.requirement.specifiers = {};
    want.requirement.url.clear();
  }
  return add(needs, std::move(want), Reason::Kind::requirement);
}

Result<void> RequirementProblem::add_device_packages(std::vector<Need>& needs,
                                                     const PackageChoice& choice) {
  if (!in_.options.dependencies) return {};
  const bool named = std::ranges::any_of(
      requests_.about(choice.package.name),
      [&](const Want& want) { return names_device(choice.package.name, want.requirement.extras); });
  if (named) return {};
  wheel::Requirement itself;
  itself.name = choice.package.name;
  itself.extras = device_extras(choice, in_.target, in_.options);
  if (itself.extras.empty()) return {};
  const auto refused = add_dependency(needs, choice, itself);
  if (!refused) return std::unexpected(refused.error());
  return {};
}

Result<void> RequirementProblem::add_abi_needs(std::vector<Need>& needs,
                                               const PackageChoice& choice) {
  const std::string& owner = choice.package.name;
  for (const wheel::AbiNeed& abi : choice.abi_needs) {
    Want want;
    want.requirement.name = abi.package;
    want.by = owner;
    want.by_version = wheel::render_version(choice.package.version);
    want.text = abi.text;
    const auto id = project(abi.package);
    if (!id) return std::unexpected(id.error());
    // It asks for nothing: who would bring it in is looked at in `objection`.
    IntegerSet values = IntegerSet::one(not_chosen);
    for (const wheel::SpecifierSet& one : abi.any_of) {
      want.requirement.specifiers = one;
      const auto some = allowed(packages_[*id], want, /*may_move=*/false);
      if (!some) return std::unexpected(some.error());
      values = values | *some;
    }
    needs.push_back({*id, std::move(values), remember({Reason::Kind::abi, std::move(want)})});
  }
  return {};
}

Result<void> RequirementProblem::add_family_needs(std::vector<Need>& needs,
                                                  const PackageChoice& choice) {
  const std::string& name = choice.package.name;
  const std::string version = wheel::render_version(choice.package.version);
  for (const wheel::Requirement& requirement : choice.goes_with) {
    const bool brings_along = in_.options.dependencies && !choice.package.already_installed &&
                              in_.families.installed(requirement.name) != nullptr;
    // A member that nobody wants is not looked up.
    if (!brings_along && !find_project(requirement.name)) continue;
    const auto refused =
        add(needs, {requirement, name, version, !brings_along}, Reason::Kind::requirement);
    if (!refused) return std::unexpected(refused.error());
  }
  const index::Family* family = in_.families.of(name);
  if (family == nullptr) return {};
  if (auto ok = bring_members(needs, choice, *family); !ok) return ok;
  if (name == family->anchor()) return {};
  const auto first = find_project(family->anchor());
  if (!first) return {};
  const CandidateList& list = *packages_[*first].list;
  const auto goes_with = [&](const wheel::Version& release) {
    const auto with = in_.families.goes_with(family->anchor(), release);
    const auto own = std::ranges::find(with, name, &wheel::Requirement::name);
    return own == with.end() || own->specifiers.contains(choice.release);
  };
  IntegerSet values = IntegerSet::one(not_chosen) | list.where([&](const Release& release) {
    return goes_with(release.version);
  });
  if (const plan::InstalledPackage* installed = list.installed_package();
      installed != nullptr && goes_with(in_.families.release_of(*installed))) {
    values = values | IntegerSet::one(list.installed());
  }
  if (values.contains(list.all())) return {};
  Want want{{}, name, version, true};
  want.requirement.name = family->anchor();
  if (const index::FamilyRelease* release = index::find_release(*family, name, choice.release)) {
    if (auto made_for = wheel::parse_specifiers("==" + release->version + ".*"))
      want.requirement.specifiers = std::move(*made_for);
  }
  needs.push_back({*first, std::move(values), remember({Reason::Kind::requirement, want})});
  return {};
}

Result<void> RequirementProblem::bring_members(std::vector<Need>& needs,
                                               const PackageChoice& choice,
                                               const index::Family& family) {
  const plan::ResolvedPackage& package = choice.package;
  if (!in_.options.dependencies || package.already_installed) return {};
  for (const std::string& member : family.members) {
    const bool said = std::ranges::any_of(
        choice.goes_with, [&](const wheel::Requirement& with) { return with.name == member; });
    if (said || member == package.name || in_.families.installed(member) == nullptr) continue;
    Want want{{}, package.name, wheel::render_version(package.version)};
    want.requirement.name = member;
    const auto refused = add(needs, std::move(want), Reason::Kind::requirement);
    if (!refused) return std::unexpected(refused.error());
  }
  return {};
}

Result<void> RequirementProblem::add_lead_need(std::vector<Need>& needs, PackageId package,
                                               Candidate candidate) {
  const Package& place = packages_[package];
  const BuildOption* const build = option(place, candidate);
  if (build == nullptr || build->fits || !follows_only(place, *build)) return {};
  const auto first = find_project(place.family->anchor());
  if (!first) return {};
  const Package& lead = packages_[*first];
  IntegerSet values;
  for (const NumberedRelease& numbered : lead.list->releases()) {
    const auto options = options_of(lead, *numbered.release);
    if (!options) return std::unexpected(options.error());
    for (std::size_t rank = 0; rank < (*options)->size(); ++rank) {
      if (backend_label(lead, *numbered.release, (**options)[rank]) == build->label)
        values = values | IntegerSet::one(numbered.number(rank));
    }
  }
  if (const Candidate installed = lead.list->installed();
      installed != not_chosen && label_of(lead, installed) == build->label) {
    values = values | IntegerSet::one(installed);
  }
  needs.push_back({*first, std::move(values), remember({Reason::Kind::backend})});
  return {};
}

Result<std::variant<Needs, Exclusion>> RequirementProblem::needs_of_project(PackageId package,
                                                                            Candidate candidate) {
  if (const auto unsuited = unsuited_.extract(package); !unsuited.empty())
    return std::move(unsuited.mapped());
  const auto taken = take(package, candidate);
  if (!taken) return std::unexpected(taken.error());
  if (const auto* const exclusion = std::get_if<Exclusion>(&*taken)) return *exclusion;
  const PackageChoice& choice = *std::get<const PackageChoice*>(*taken);
  Needs needs{IntegerSet::one(candidate), {}};
  if (in_.options.dependencies) {
    const std::vector<wheel::Requirement> requirements = requests_.dependencies_of(choice, {});
    expect_needs(requirements);
    for (const wheel::Requirement& requirement : requirements) {
      const auto refused = add_dependency(needs.needs, choice, requirement);
      if (!refused) return std::unexpected(refused.error());
      if (*refused) return std::unexpected(**refused);
    }
  }
  if (auto ok = add_device_packages(needs.needs, choice); !ok) return std::unexpected(ok.error());
  if (auto ok = add_family_needs(needs.needs, choice); !ok) return std::unexpected(ok.error());
  if (auto ok = add_lead_need(needs.needs, package, candidate); !ok)
    return std::unexpected(ok.error());
  add_alternative_needs(needs.needs, choice);
  add_platform_need(needs.needs, package, candidate, choice);
  if (auto ok = add_built_for_need(needs.needs, choice); !ok) return std::unexpected(ok.error());
  if (auto ok = add_abi_needs(needs.needs, choice); !ok) return std::unexpected(ok.error());
  add_backend_need(needs.needs, package, candidate);
  return needs;
}

Result<std::variant<Needs, Exclusion>> RequirementProblem::find_needs(PackageId package,
                                                                      Candidate candidate) {
  const index::WhileWaiting look_further([this] { foresee(); });
  switch (packages_[package].kind) {
    case Package::Kind::question:
      return needs_of_question();
    case Package::Kind::project:
      ++tried_count_;
      return needs_of_project(package, candidate);
    case Package::Kind::extra:
      return needs_of_extra(package, candidate);
    case Package::Kind::backend:
      return Needs{IntegerSet::one(candidate), {}};
  }
  return Needs{};
}

Result<std::variant<Needs, Exclusion>> RequirementProblem::needs_of(PackageId package,
                                                                    Candidate candidate) {
  const bool only_of_range = extra_ranges_.contains(package);
  auto found = find_needs(package, candidate);
  if (!found || only_of_range) return found;
  if (const auto* const needs = std::get_if<Needs>(&*found)) {
    if (!note_askers(package, *needs)) return begin_again();
    std::vector<PackageId>& brought_in = brought_in_[{package, candidate}];
    brought_in.clear();
    for (const Need& need : needs->needs) {
      if (!need.values.contains(not_chosen)) brought_in.push_back(need.package);
    }
  }
  return found;
}

Urgency RequirementProblem::urgency(PackageId package, const IntegerSet& values) {
  const Package& place = packages_[package];
  if (place.kind == Package::Kind::question) return Urgency::fixed;
  // It is what the builds make it, of which the first member's comes first.
  if (place.kind == Package::Kind::backend) return Urgency::usual;
  if (place.direct) return Urgency::direct;
  // The first member of a family leads: the others follow its version and its label.
  const bool leads = place.family != nullptr && place.name == place.family->anchor();
  if (leads || values.contains(place.list->installed())) return Urgency::pinned;
  const auto& boundaries = values.boundaries();
  if (boundaries.size() == 2) {
    const NumberedRelease* const only = place.list->release_of(boundaries.front());
    if (only != nullptr && boundaries.back() <= only->last) return Urgency::pinned;
  }
  return Urgency::usual;
}

}  // namespace axle::resolver
