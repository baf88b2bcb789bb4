// Packages, their numbers, and which of them a requirement allows. build_needs.cpp has what
// candidates need, build_choice.cpp which one is tried first.

#include "resolver/solver/requirement_problem.h"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "resolver/catalogue/version_filter.h"
#include "resolver/explain/messages.h"

namespace axle::resolver {
namespace {

bool names_local_version(const wheel::SpecifierSet& specifiers) {
  return std::ranges::any_of(specifiers.specifiers, [](const wheel::Specifier& specifier) {
    return !specifier.version.local.empty();
  });
}

/// A package that is named by the place of its sources.
bool is_from_source(const RequirementProblem::Package& package) {
  return std::ranges::any_of(package.list->releases(), [](const NumberedRelease& numbered) {
    return numbered.release->built != nullptr;
  });
}

bool pins(const Want& want, const wheel::Version& version) {
  return version_filter({&want}).pins(version);
}

}  // namespace

RequirementProblem::RequirementProblem(const SolverInputs& inputs, const UserRequests& requests,
                                       Admissions& admissions)
    : in_(inputs), requests_(requests), admissions_(admissions), packages_(1) {}

std::unexpected<Error> RequirementProblem::begin_again() {
  begins_again_ = true;
  return std::unexpected(Error{ErrorKind::conflict, "the search begins again", {}});
}

std::optional<PackageId> RequirementProblem::find_project(std::string_view name) const {
  const auto found = ids_.find({Package::Kind::project, std::string(name), {}});
  if (found == ids_.end()) return std::nullopt;
  return found->second;
}

std::uint32_t RequirementProblem::remember(Reason reason) {
  const bool is_want = reason.kind == Reason::Kind::requirement ||
                       reason.kind == Reason::Kind::constraint || reason.kind == Reason::Kind::abi;
  if (is_want) {
    const Want& want = reason.want;
    std::string key =
        fmt::format("{}\n{}\n{}\n{}", static_cast<int>(reason.kind), want.by,
                    wheel::render_requirement(want.requirement), want.text + want.origin);
    const auto [known, is_new] =
        known_reasons_.try_emplace(std::move(key), static_cast<std::uint32_t>(reasons_.size()));
    if (!is_new) return known->second;
  }
  reasons_.push_back(std::move(reason));
  return static_cast<std::uint32_t>(reasons_.size() - 1);
}

std::vector<std::string> RequirementProblem::urls_of(const std::string& name) const {
  std::vector<const Want*> wants;
  for (const Want& want : requests_.about(name)) wants.push_back(&want);
  std::vector<std::string> urls = direct_urls(wants);
  if (std::string assigned = in_.candidates.assigned_url(name); !assigned.empty()) {
    if (std::ranges::find(urls, assigned) == urls.end()) urls.push_back(std::move(assigned));
  }
  const auto admitted = admissions_.urls.find(name);
  if (admitted == admissions_.urls.end()) return urls;
  for (const std::string& url : admitted->second) {
    if (std::ranges::find(urls, url) == urls.end()) urls.push_back(url);
  }
  return urls;
}

const plan::InstalledPackage* RequirementProblem::installed_candidate(const std::string& name) {
  const plan::InstalledPackage* installed =
      in_.chooser.installed_candidate(name, wants_about(name));
  const auto kept = in_.kept.find(name);
  if (installed != nullptr && kept != in_.kept.end() &&
      in_.families.installed_label(*installed) != kept->second.label) {
    return nullptr;
  }
  return installed;
}

const plan::InstalledPackage* RequirementProblem::held_package(const std::string& name) {
  return admissions_.movable.contains(name) ? nullptr : installed_candidate(name);
}

Result<std::shared_ptr<const CandidateList>> RequirementProblem::list_of(const std::string& name) {
  const std::vector<std::string> urls = urls_of(name);
  if (!urls.empty()) {
    auto places = named_places(name, wants_about(name), in_.candidates.assigned_url(name), urls);
    if (!places) return std::unexpected(places.error());
    places->hash_required = requests_.hash_rules().required;
    const auto release = in_.candidates.direct(name, *places);
    if (!release) return std::unexpected(release.error());
    return std::make_shared<const CandidateList>(std::vector<Release*>{*release}, nullptr,
                                                 wheel::Version{});
  }
  const plan::InstalledPackage* const installed = installed_candidate(name);
  const bool held = installed != nullptr && !admissions_.movable.contains(name);
  const auto [known, is_new] = in_.lists.try_emplace({name, installed, !held});
  if (!is_new) return known->second;
  std::vector<Release*> releases;
  if (!held) {
    auto found = in_.candidates.releases(name);
    if (!found) {
      in_.lists.erase(known);
      return std::unexpected(std::move(found).error());
    }
    releases = std::move(*found);
    const auto seen = foreseen_.find(name);
    if (installed == nullptr && seen != foreseen_.end() && seen->second.list)
      return known->second = seen->second.list;
  }
  known->second = std::make_shared<const CandidateList>(
      std::move(releases), installed,
      installed == nullptr ? wheel::Version{} : in_.families.release_of(*installed));
  return known->second;
}

bool RequirementProblem::is_held(PackageId package) const {
  const Package& place = packages_[package];
  return place.kind == Package::Kind::project && place.list->releases().empty() &&
         place.list->installed() != not_chosen && !admissions_.movable.contains(place.name);
}

Result<PackageId> RequirementProblem::project(const std::string& name) {
  const std::tuple key(Package::Kind::project, name, std::string());
  if (const auto known = ids_.find(key); known != ids_.end()) return known->second;
  auto list = list_of(name);
  if (!list) return std::unexpected(std::move(list).error());
  Package package;
  package.kind = Package::Kind::project;
  package.name = name;
  package.family = in_.families.of(name);
  package.list = std::move(*list);
  package.direct = !urls_of(name).empty();
  if (auto ok = add_exclusions(package); !ok) return std::unexpected(std::move(ok).error());
  const auto id = static_cast<PackageId>(packages_.size());
  packages_.push_back(std::move(package));
  ids_.emplace(key, id);
  return id;
}

Result<PackageId> RequirementProblem::extra(const std::string& name, const std::string& extra) {
  const std::tuple key(Package::Kind::extra, name, extra);
  if (const auto known = ids_.find(key); known != ids_.end()) return known->second;
  const auto base = project(name);
  if (!base) return base;
  Package package = packages_[*base];
  package.kind = Package::Kind::extra;
  package.extra = extra;
  package.project = *base;
  package.exclusions.clear();
  const auto id = static_cast<PackageId>(packages_.size());
  packages_.push_back(std::move(package));
  ids_.emplace(key, id);
  return id;
}

PackageId RequirementProblem::backend(const index::Family* family) {
  const std::string name = family == nullptr ? std::string() : family->name;
  const std::tuple key(Package::Kind::backend, name, std::string());
  const auto [known, is_new] = ids_.try_emplace(key, static_cast<PackageId>(packages_.size()));
  if (is_new) {
    Package package;
    package.kind = Package::Kind::backend;
    package.name = name;
    package.family = family;
    packages_.push_back(std::move(package));
  }
  return known->second;
}

Need RequirementProblem::need_of_label(PackageId id, const std::string& label, Reason reason) {
  std::vector<std::string>& labels = packages_[id].labels;
  auto place = std::ranges::find(labels, label);
  if (place == labels.end()) place = labels.insert(labels.end(), label);
  const auto value = static_cast<Candidate>(place - labels.begin()) + 1;
  return {id, IntegerSet::one(value), remember(std::move(reason))};
}

Result<void> RequirementProblem::add_exclusions(Package& package) {
  const CandidateList& list = *package.list;
  const auto exclude = [&](const IntegerSet& numbers, Reason reason) {
    if (!numbers.empty()) package.exclusions.push_back({numbers, remember(std::move(reason))});
  };
  for (const Want& want : requests_.about(package.name)) {
    if (!want.constraint) continue;
    const auto values = allowed(package, want);
    if (!values) return std::unexpected(values.error());
    exclude(list.all() & values->complement(), {Reason::Kind::constraint, want});
  }
  const std::string* who = in_.options.wheel_use.forbids(package.name);
  const bool is_built = package.direct && is_from_source(package);
  if (who != nullptr && !is_built && !(admissions_.builds && in_.options.may_build(package.name))) {
    exclude(list.where([](const Release&) { return true; }),
            {Reason::Kind::unusable,
             {},
             wheels_forbidden(package.name, wants_about(package.name), *who, in_.options)});
  }
  exclude_breaking(package);
  if (package.direct) return {};
  const Prereleases which = in_.options.prereleases;
  const bool early_count =
      which == Prereleases::allow || admissions_.prereleases.contains(package.name) ||
      (count_if_needed(which) && list.releases_in(list.early()).size() == list.releases().size());
  if (!early_count) exclude(list.early(), {Reason::Kind::not_asked});
  const std::vector<const Want*> of_user = wants_about(package.name);
  IntegerSet nobody_asks = list.yanked();
  for (const NumberedRelease* numbered : list.releases_in(list.yanked())) {
    const Release& release = *numbered->release;
    if (is_pinned(package.name, release, {}) || version_filter(of_user).pins(release.version))
      nobody_asks = nobody_asks & numbered->numbers().complement();
  }
  exclude(nobody_asks, {Reason::Kind::not_asked});
  const auto is_refused = [&](const Release& release) {
    return admissions_.refused.contains({package.name, wheel::render_version(release.version)});
  };
  if (!admissions_.refused.empty()) exclude(list.where(is_refused), {Reason::Kind::not_asked});
  exclude_unfollowed(package);
  const auto kept = in_.kept.find(package.name);
  if (kept != in_.kept.end() && kept->second.version) {
    wheel::SpecifierSet only;
    only.specifiers.push_back({wheel::Comparison::equal, *kept->second.version, false, {}});
    exclude(list.all() & list.matching(only).complement(), {Reason::Kind::kept});
  }
  return {};
}

void RequirementProblem::exclude_breaking(Package& package) {
  for (const auto& [breakage, need, was_sound, requested] : in_.unmet) {
    // Whoever names a package wants that one: an older version is not an answer.
    if (need.package != package.name || requested) continue;
    IntegerSet breaking = package.list->all();
    for (const wheel::SpecifierSet& one : need.any_of)
      breaking = breaking & package.list->matching(one).complement();
    if (breaking.empty()) continue;
    Error why{ErrorKind::conflict,
              fmt::format("{} {}, which is installed, needs {}", breakage.name, breakage.version,
                          breakage.needs),
              fmt::format("name {} in the same command", breakage.name)};
    package.exclusions.push_back(
        {std::move(breaking), remember({Reason::Kind::kept, {}, std::move(why)})});
  }
}

void RequirementProblem::exclude_unfollowed(Package& package) {
  const index::Family* family = package.family;
  if (family == nullptr || package.name == family->anchor()) return;
  const std::string& first = family->anchor();
  const plan::InstalledPackage* lead = in_.families.installed(first);
  const bool version_given =
      std::ranges::any_of(requests_.about(package.name),
                          [](const Want& want) { return !want.requirement.specifiers.empty(); });
  if (lead == nullptr || version_given || requests_.asks_for(first) ||
      admissions_.movable.contains(first) || in_.kept.contains(package.name)) {
    return;
  }
  const auto with = in_.families.goes_with(first, lead->version.public_version());
  const auto own = std::ranges::find(with, package.name, &wheel::Requirement::name);
  if (own == with.end()) return;
  const IntegerSet others =
      package.list->all() & package.list->matching(own->specifiers).complement();
  if (others.empty()) return;
  Want want{*own, first, wheel::render_version(lead->version.public_version()), true};
  package.exclusions.push_back({others, remember({Reason::Kind::lead, std::move(want)})});
}

std::vector<Exclusion> RequirementProblem::exclusions(PackageId package) {
  return package < packages_.size() ? packages_[package].exclusions : std::vector<Exclusion>();
}

std::vector<const Want*> RequirementProblem::wants_about(const std::string& name) const {
  std::vector<const Want*> wants;
  for (const Want& want : requests_.about(name)) wants.push_back(&want);
  return wants;
}

bool RequirementProblem::is_pinned(const std::string& name, const Release& release,
                                   const std::string& label) const {
  if (label.empty() && release.summary().all_yanked && admissions_.yanked.contains(name))
    return true;
  const auto pinned = admissions_.pins.find(name);
  if (pinned == admissions_.pins.end()) return false;
  return std::ranges::any_of(pinned->second, [&](const Want& want) {
    if (label.empty()) {
      return pins(want, release.version) ||
             std::ranges::any_of(release.local_versions, [&](const wheel::Version& version) {
               return pins(want, version);
             });
    }
    return version_filter({&want}).pinned_local() == label &&
           std::ranges::any_of(release.local_versions,
                               [&](const wheel::Version& version) { return pins(want, version); });
  });
}

Result<IntegerSet> RequirementProblem::narrowed_to_builds(const Package& package, const Want& want,
                                                          const IntegerSet& values) {
  IntegerSet narrowed = values;
  for (const NumberedRelease& numbered : package.list->releases()) {
    Release& release = *numbered.release;
    if (release.family == nullptr || !values.contains(numbered.first)) continue;
    const auto options = options_of(package, release);
    if (!options) return std::unexpected(options.error());
    for (std::size_t rank = 0; rank < (*options)->size(); ++rank) {
      const std::string& label = (**options)[rank].label;
      const auto version = std::ranges::find_if(
          release.candidates, [&](const CandidateWheel& wheel) { return wheel.label == label; });
      const bool is_in = version != release.candidates.end() &&
                         want.requirement.specifiers.contains(version->name.version);
      if (!is_in) narrowed = narrowed & IntegerSet::one(numbered.number(rank)).complement();
    }
  }
  return narrowed;
}

bool RequirementProblem::admits_pins(const Package& package, const Want& want,
                                     const IntegerSet& values) {
  bool more = false;
  for (const NumberedRelease* numbered : package.list->releases_in(values)) {
    const Release& release = *numbered->release;
    if (!release.summary().yanked_wheels && release.family == nullptr) continue;
    const bool pinned =
        pins(want, release.version) ||
        std::ranges::any_of(release.local_versions,
                            [&](const wheel::Version& local) { return pins(want, local); });
    if (!pinned) continue;
    std::vector<Want>& known = admissions_.pins[package.name];
    const std::string text = wheel::render_specifiers(want.requirement.specifiers);
    const bool is_known = std::ranges::any_of(known, [&](const Want& other) {
      return wheel::render_specifiers(other.requirement.specifiers) == text;
    });
    if (is_known) continue;
    known.push_back(want);
    more = true;
  }
  return more;
}

bool RequirementProblem::admits_more(const Package& package, const Want& want,
                                     const IntegerSet& values) {
  const CandidateList& list = *package.list;
  const wheel::SpecifierSet& specifiers = want.requirement.specifiers;
  const bool pins_one = std::ranges::any_of(specifiers.specifiers, [](const auto& specifier) {
    return specifier.comparison == wheel::Comparison::arbitrary ||
           (specifier.comparison == wheel::Comparison::equal && !specifier.wildcard);
  });
  IntegerSet counted = values & list.yanked().complement();
  if (pins_one) {
    for (const NumberedRelease* numbered : list.releases_in(values & list.yanked())) {
      if (pins(want, numbered->release->version)) counted = counted | numbered->numbers();
    }
  }
  const bool more = pins_one && !want.by.empty() && admits_pins(package, want, values);
  const IntegerSet early = counted & list.early();
  // What is installed is not a release that could be chosen instead.
  IntegerSet final = counted & list.early().complement();
  if (list.installed() != not_chosen)
    final = final & IntegerSet::one(list.installed()).complement();
  // uv's rule: a bound such as "<2.0.dev0" in somebody's metadata is no wish for pre-releases.
  const Prereleases which = in_.options.prereleases;
  const bool asks = count_if_named(which) && want.by.empty() && specifiers.admits_prereleases();
  const bool admits = !early.empty() && (asks || (count_if_needed(which) && final.empty()));
  return (admits && admissions_.prereleases.insert(package.name).second) || more;
}

Result<IntegerSet> RequirementProblem::allowed(const Package& package, const Want& want,
                                               bool may_move) {
  const CandidateList& list = *package.list;
  const wheel::SpecifierSet& specifiers = want.requirement.specifiers;
  IntegerSet values = list.matching(specifiers);
  if (package.direct) return values;
  if (names_local_version(specifiers)) {
    auto narrowed = narrowed_to_builds(package, want, values);
    if (!narrowed) return narrowed;
    values = std::move(*narrowed);
  }
  const bool held = list.releases().empty() && list.installed() != not_chosen;
  if (held && values.empty() && may_move && admissions_.movable.insert(package.name).second)
    return begin_again();
  if (!values.empty() && admits_more(package, want, values)) return begin_again();
  return values;
}

}  // namespace axle::resolver
