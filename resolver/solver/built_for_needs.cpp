// Builds for one release of torch (resolver/family/built_for.h): what they need of it, and which of
// them goes with the torch that is chosen. Known from names alone, before any metadata is read.

#include <algorithm>
#include <ranges>
#include <tuple>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "resolver/solver/requirement_problem.h"

namespace axle::resolver {

namespace {

/// Of `releases`, newest first, the one that the user prefers, else the first that `values` has.
auto newest_or_preferred(const auto& releases, const IntegerSet& values, const std::string& name,
                         const Options& options) {
  const auto is_there = [&](const NumberedRelease& numbered) {
    return values.meets(numbered.numbers());
  };
  if (const auto row = options.preferred.find(name); row != options.preferred.end()) {
    for (const wheel::Version& version : row->second) {
      const auto found = std::ranges::find_if(releases, [&](const NumberedRelease& numbered) {
        return wheel::compare_public(numbered.release->version, version) == 0 && is_there(numbered);
      });
      if (found != releases.end()) return found;
    }
  }
  return std::ranges::find_if(releases, is_there);
}

/// That a family's file gives the build; empty: none.
std::string_view family_label(const plan::ResolvedPackage& package) {
  return package.family.empty() || !package.variant ? std::string_view() : *package.variant;
}

}  // namespace

bool RequirementProblem::torch_matters() const {
  return in_.options.dependencies || requests_.asks_for(std::string(torch_package)) ||
         in_.families.installed(torch_package) != nullptr;
}

const std::vector<RequirementProblem::BuiltAlike>& RequirementProblem::built_alike(
    PackageId package) {
  const auto [known, is_new] = built_alike_.try_emplace(package);
  std::vector<BuiltAlike>& alike = known->second;
  if (!is_new) return alike;
  const Package& place = packages_[package];
  const auto add = [&](const wheel::Version& version, Candidate first, Candidate last) {
    auto built = in_.families.built_for(place.name, version, {});
    if (!built) return;
    const IntegerSet numbers = IntegerSet::from_to(first, last);
    const auto same = std::ranges::find(alike, built->local,
                                        [](const BuiltAlike& one) { return one.built.local; });
    if (same == alike.end()) {
      alike.push_back({std::move(*built), numbers});
    } else {
      same->candidates = same->candidates | numbers;
    }
  };
  for (const NumberedRelease& numbered : place.list->releases())
    add(numbered.release->version, numbered.first, numbered.last);
  if (const Candidate installed = place.list->installed(); installed != not_chosen)
    add(place.list->installed_package()->version, installed, installed + 1);
  return alike;
}

Result<IntegerSet> RequirementProblem::suiting(const BuiltFor& built) {
  if (const auto known = suiting_.find(built.local); known != suiting_.end()) return known->second;
  const auto id = project(std::string(torch_package));
  if (!id) return std::unexpected(id.error());
  const Package& torch = packages_[*id];
  const CandidateList& list = *torch.list;
  IntegerSet values = list.matching(built.versions());
  for (const NumberedRelease& numbered : list.releases()) {
    if (!values.meets(numbered.numbers())) continue;
    Release& release = *numbered.release;
    const auto options = options_of(torch, release);
    if (!options) return std::unexpected(options.error());
    for (std::size_t rank = 0; rank < (*options)->size(); ++rank) {
      const std::string label = backend_label(torch, release, (**options)[rank]);
      if (!in_.families.suits(built, release.version, label))
        values = values & IntegerSet::one(numbered.number(rank)).complement();
    }
  }
  if (const Candidate installed = list.installed();
      values.contains(installed) &&
      !in_.families.suits(built, list.installed_package()->version, label_of(torch, installed))) {
    values = values & IntegerSet::one(installed).complement();
  }
  return suiting_.emplace(built.local, std::move(values)).first->second;
}

std::uint32_t RequirementProblem::built_for_reason(const std::string& owner,
                                                   const wheel::Version& version,
                                                   std::vector<const BuiltFor*> any_of) {
  // The newest torch first.
  std::ranges::sort(any_of, [](const BuiltFor* left, const BuiltFor* right) {
    const auto place = [](const BuiltFor* built) {
      const auto version = wheel::parse_version(built->torch);
      return std::tuple(version ? version->release : wheel::ReleaseNumbers(), built->toolkit,
                        built->cxx11_abi);
    };
    return place(left) > place(right);
  });
  std::vector<std::string> texts;
  for (const BuiltFor* built : any_of) {
    std::string text = built->render();
    if (std::ranges::find(texts, text) == texts.end()) texts.push_back(std::move(text));
  }
  const std::size_t shown = std::min<std::size_t>(texts.size(), 3);
  Want want;
  want.requirement.name = torch_package;
  want.by = owner;
  want.by_version = wheel::render_version(version);
  want.text = fmt::format(
      "{}{}", fmt::join(texts.begin(), texts.begin() + static_cast<std::ptrdiff_t>(shown), " or "),
      texts.size() > shown ? fmt::format(" or {} more", texts.size() - shown) : "");
  return remember({Reason::Kind::abi, std::move(want)});
}

Result<void> RequirementProblem::add_built_for_need(std::vector<Need>& needs,
                                                    const PackageChoice& choice) {
  const plan::ResolvedPackage& owner = choice.package;
  const auto built =
      in_.families.built_for(owner.name, owner.version, *choice.requires_dist, family_label(owner));
  if (!built || !torch_matters()) return {};
  auto values = suiting(*built);
  if (!values) return std::unexpected(std::move(values).error());
  // It asks for nothing, like what builds were linked with: see `objection`.
  needs.push_back({*find_project(torch_package), *values | IntegerSet::one(not_chosen),
                   built_for_reason(owner.name, owner.version, {&*built})});
  return {};
}

Result<IntegerSet> RequirementProblem::suiting_builds(PackageId package, const IntegerSet& values,
                                                      const Assignments& so_far) {
  const CandidateList& list = *packages_[package].list;
  const auto releases = std::views::reverse(list.releases());
  const auto newest = newest_or_preferred(releases, values, packages_[package].name, in_.options);
  if (newest == releases.end()) return values;
  IntegerSet of_version;
  for (const NumberedRelease& numbered : list.releases()) {
    if (wheel::compare_public(numbered.release->version, newest->release->version) == 0)
      of_version = of_version | (values & numbered.numbers());
  }
  const PackageId torch = *find_project(torch_package);
  const IntegerSet possible =
      torch < so_far.package_count() ? so_far.possible(torch) : packages_[torch].list->all();
  IntegerSet any;
  for (const BuiltAlike& alike : built_alike(package)) {
    const auto good = suiting(alike.built);
    if (!good) return std::unexpected(good.error());
    if (of_version.meets(alike.candidates)) any = any | (*good & possible);
  }
  if (any.empty()) return values;
  const auto best = choose_build(torch, any, so_far);
  if (!best) return std::unexpected(best.error());
  if (!*best) return values;
  IntegerSet chosen;
  for (const BuiltAlike& alike : built_alike(package)) {
    if (suiting(alike.built)->contains(**best)) chosen = chosen | (of_version & alike.candidates);
  }
  return chosen.empty() ? values : chosen;
}

Result<std::optional<Candidate>> RequirementProblem::choose_suiting(PackageId package,
                                                                    const IntegerSet& values,
                                                                    const Assignments& so_far) {
  unsuited_.erase(package);
  if (built_alike(package).empty() || !torch_matters())
    return choose_build(package, values, so_far);
  const std::vector<BuiltAlike> alike = built_alike(package);
  Needs unsuited;
  IntegerSet torch_values;
  for (const BuiltAlike& one : alike) {
    auto good = suiting(one.built);
    if (!good) return std::unexpected(std::move(good).error());
    // What is installed counts although nobody may ask for it.
    const IntegerSet goes = in_.families.installed(torch_package) != nullptr
                                ? std::move(*good)
                                : *good | IntegerSet::one(not_chosen);
    const PackageId torch = *find_project(torch_package);
    const IntegerSet possible =
        torch < so_far.package_count() ? so_far.possible(torch) : IntegerSet::all();
    if (possible.meets(goes)) continue;
    unsuited.alike = unsuited.alike | one.candidates;
    torch_values = torch_values | goes;
  }
  const IntegerSet left = values & unsuited.alike.complement();
  const CandidateList& list = *packages_[package].list;
  if (left.empty()) {
    const Candidate last = *values.last_below(list.all().boundaries().back());
    std::vector<const BuiltFor*> any_of;
    for (const BuiltAlike& one : alike) {
      if (unsuited.alike.meets(one.candidates)) any_of.push_back(&one.built);
    }
    unsuited.needs.push_back(
        {*find_project(torch_package), std::move(torch_values),
         built_for_reason(packages_[package].name, list.version_of(last), any_of)});
    unsuited_.emplace(package, std::move(unsuited));
    return last;
  }
  // What is installed and suits stays.
  if (list.installed() != not_chosen && left.contains(list.installed()))
    return choose_build(package, left, so_far);
  const auto builds = suiting_builds(package, left, so_far);
  if (!builds) return std::unexpected(builds.error());
  return choose_build(package, *builds, so_far);
}

std::optional<Objection> RequirementProblem::built_for_another(const Assignments& solution) {
  const plan::InstalledPackage* const there = in_.families.installed(torch_package);
  const auto is_chosen = [&](PackageId package, const IntegerSet& values) {
    return package < solution.package_count() && solution.is_decided(package) &&
           values.contains(solution.possible(package).boundaries().front());
  };
  const auto torch = find_project(torch_package);
  if (there == nullptr || (torch && is_chosen(*torch, IntegerSet::from(1)))) return std::nullopt;
  for (const auto& [place, choice] : choices_) {
    const auto& [package, candidate] = place;
    if (choice.package.already_installed || !is_chosen(package, IntegerSet::one(candidate)))
      continue;
    const auto built = in_.families.built_for(choice.package.name, choice.package.version,
                                              *choice.requires_dist, family_label(choice.package));
    if (!built ||
        in_.families.suits(*built, there->version, in_.families.installed_label(*there))) {
      continue;
    }
    Error why{ErrorKind::unsupported,
              fmt::format("it was built for {}, and {} {} is installed", built->render(),
                          torch_package, wheel::render_version(there->version)),
              {}};
    return Objection{{{package, IntegerSet::one(candidate)}},
                     remember({Reason::Kind::unusable, {}, std::move(why)})};
  }
  return std::nullopt;
}

}  // namespace axle::resolver
