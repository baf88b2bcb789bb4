// Which build of a package is tried first, and what it is.

#include <algorithm>
#include <cstddef>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "resolver/catalogue/version_filter.h"
#include "resolver/explain/messages.h"
#include "resolver/solver/requirement_problem.h"

namespace axle::resolver {

std::string RequirementProblem::given_label(const index::Family& family) const {
  for (const std::string& member : family.members) {
    if (const auto kept = in_.kept.find(member); kept != in_.kept.end()) return kept->second.label;
    const std::vector<const Want*> wants = wants_about(member);
    if (wants.empty()) continue;
    std::string label = in_.families.given_label(family, member, wants);
    if (!label.empty()) return label;
  }
  return {};
}

bool RequirementProblem::may_follow(const Package& package, const BuildOption& option) const {
  return package.family != nullptr && package.name != package.family->anchor() &&
         !option.label.empty() && in_.kept.find(package.name) == in_.kept.end();
}

bool RequirementProblem::is_admissible(const Package& package, const Release& release,
                                       const BuildOption& option) const {
  if (const auto kept = in_.kept.find(package.name); kept != in_.kept.end())
    return option.label == kept->second.label;
  const auto pinned = in_.options.pinned_variants.find(package.name);
  if (pinned != in_.options.pinned_variants.end())
    return option.label == pinned->second && (option.fits || option.unknown);
  if (package.family == nullptr) return option.fits;
  if (option.fallback && admissions_.for_gpu.contains(package.name)) return false;
  const std::string own =
      in_.families.given_label(*package.family, package.name, wants_about(package.name));
  // A release with a local version of its own is itself what such a version asks for.
  if (!own.empty() && release.version.local.empty()) return option.label == own;
  return option.fits || may_follow(package, option) ||
         option.label == given_label(*package.family) ||
         (!option.label.empty() && is_pinned(package.name, release, option.label));
}

bool RequirementProblem::follows_only(const Package& package, const BuildOption& option) const {
  return may_follow(package, option) && option.label != given_label(*package.family);
}

bool RequirementProblem::is_known(const Package& package) const {
  const std::vector<const Want*> wants = wants_about(package.name);
  const VersionFilter asked = version_filter(wants);
  return std::ranges::any_of(package.list->releases(), [&](const NumberedRelease& numbered) {
    const Release& release = *numbered.release;
    return asked.contains(release) &&
           index::find_release(*package.family, package.name, release.version) != nullptr &&
           release.may_be_labelled();
  });
}

unsigned RequirementProblem::tier(const Package& package, const Release& release,
                                  const BuildOption& option) const {
  constexpr unsigned after_all_wheels = 16;
  if (option.from_source) return after_all_wheels;
  if (package.family == nullptr || release.family == nullptr) return 0;
  // A build that was asked for, by pin or by version, is the one, whatever is known of it.
  if (in_.kept.contains(package.name) || !given_label(*package.family).empty()) return 0;
  unsigned place = option.unknown ? 1 : 0;
  if (option.fallback && in_.families.has_device_for(*package.family)) place += 2;
  if (!option.fits) place += 4;
  return place;
}

std::string RequirementProblem::backend_label(const Package& package, const Release& release,
                                              const BuildOption& option) const {
  if (package.family == nullptr) return {};
  // A wheel that is named by its place is no build of the family, but its version says the label.
  if (package.direct) return in_.families.known_local(*package.family, release.version);
  if (!option.label.empty()) return release.family == nullptr ? std::string() : option.label;
  return in_.families.plain_label(*package.family, package.name, release.version);
}

std::string RequirementProblem::label_of(const Package& package, Candidate candidate) const {
  if (package.family == nullptr) return {};
  if (candidate == package.list->installed())
    return in_.families.installed_label(*package.list->installed_package());
  const BuildOption* const build = option(package, candidate);
  return build == nullptr
             ? std::string()
             : backend_label(package, *package.list->release_of(candidate)->release, *build);
}

RequirementProblem::Lead RequirementProblem::lead_of(const Package& package,
                                                     const Assignments& so_far) const {
  if (package.family == nullptr) return {};
  const index::Family& family = *package.family;
  const std::string& name = family.anchor();
  if (package.name == name) return {given_label(family), false};
  const auto first = find_project(name);
  const bool known = first && *first < so_far.package_count();
  if (known && so_far.is_decided(*first)) {
    const Package& lead = packages_[*first];
    const Candidate chosen = so_far.possible(*first).boundaries().front();
    if (lead.family != nullptr) return {label_of(lead, chosen), chosen == lead.list->installed()};
    return {in_.families.plain_label(family, name, lead.list->version_of(chosen)), false};
  }
  const auto settled = admissions_.leads.find(&family);
  if (settled != admissions_.leads.end()) return {settled->second, false};
  if (std::string given = given_label(family); !given.empty()) return {std::move(given), false};
  const plan::InstalledPackage* installed = in_.families.installed(name);
  if (installed == nullptr || (known && so_far.is_needed(*first))) return {};
  return {in_.families.installed_label(*installed), true};
}

const BuildOption* RequirementProblem::option(const Package& package, Candidate candidate) const {
  const NumberedRelease* numbered = package.list->release_of(candidate);
  if (numbered == nullptr) return nullptr;
  const auto known = options_.find(numbered->release);
  const std::size_t rank = numbered->last - 1 - candidate;
  return known != options_.end() && rank < known->second.size() ? &known->second[rank] : nullptr;
}

PackageDemand RequirementProblem::demand_for(const Package& package, const Release& release,
                                             const BuildOption* option) const {
  PackageDemand demand{package.name, wants_about(package.name), {}};
  demand.pinned = is_pinned(package.name, release, {});
  if (const auto kept = in_.kept.find(package.name); kept != in_.kept.end()) {
    demand.rule = LabelRule::kept;
    demand.label = kept->second.label;
  } else if (option != nullptr) {
    demand.rule = option->fits                                      ? LabelRule::shared
                  : is_pinned(package.name, release, option->label) ? LabelRule::forced
                                                                    : LabelRule::follow;
    demand.label = option->label;
  }
  return demand;
}

Result<const std::vector<BuildOption>*> RequirementProblem::options_of(const Package& package,
                                                                       Release& release) {
  if (const auto known = options_.find(&release); known != options_.end()) return &known->second;
  PackageDemand demand = demand_for(package, release, nullptr);
  demand.rule = LabelRule::best;
  auto options = in_.chooser.options(demand, release);
  if (!options) return std::unexpected(std::move(options).error());
  const bool known = package.family == nullptr || release.family == nullptr || is_known(package);
  const bool asked = demand.pinned || version_filter(demand.wants).pins(release.version) ||
                     !version_filter(demand.wants).pinned_local().empty();
  if (known && !asked && package.family != nullptr && !in_.kept.contains(package.name)) {
    // Where some build of the family is known, others count where they are asked for alone.
    for (BuildOption& option : *options) option.fits = option.fits && !option.unknown;
  }
  // A wheel that was built before is still no better than one that is published.
  if (release.built != nullptr && !release.direct) {
    for (BuildOption& option : *options) option.from_source = option.fits;
    if (!admissions_.builds)
      std::erase_if(*options, [](const BuildOption& option) { return option.from_source; });
  }
  const bool fits = std::ranges::any_of(*options, &BuildOption::fits);
  if (!fits && admissions_.builds) {
    const auto sdist = sdist_of(package, release);
    if (!sdist) return std::unexpected(sdist.error());
    if (*sdist) options->push_back({.label = {}, .from_source = true});
  }
  return &options_.emplace(&release, std::move(*options)).first->second;
}

Result<bool> RequirementProblem::has_build_for_gpu(PackageId package, const IntegerSet& values) {
  const Package& place = packages_[package];
  for (const NumberedRelease* numbered : place.list->releases_in(values)) {
    const auto options = options_of(place, *numbered->release);
    if (!options) return std::unexpected(options.error());
    in_.candidates.note_decision(*numbered->release, {});
    for (std::size_t rank = 0; rank < (*options)->size(); ++rank) {
      const BuildOption& build = (**options)[rank];
      const bool for_gpu = build.fits && !build.fallback && !build.unknown;
      if (for_gpu && values.contains(numbered->number(rank))) return true;
    }
  }
  return false;
}

Result<std::optional<Sdist>> RequirementProblem::sdist_of(const Package& package,
                                                          const Release& release) const {
  PackageDemand demand = demand_for(package, release, nullptr);
  demand.rule = LabelRule::best;
  auto sdist = in_.chooser.buildable(demand, release);
  // Without a hash that the user lists it would run before anybody could object.
  if (sdist && *sdist && requests_.hash_rules().required && (*sdist)->listed.empty())
    return std::nullopt;
  return sdist;
}

Result<void> RequirementProblem::build(const Package& package, Release& release) {
  if (release.built != nullptr) return {};
  const auto sdist = sdist_of(package, release);
  if (!sdist) return std::unexpected(sdist.error());
  if (!*sdist) return {};
  if (auto done = in_.chooser.build(**sdist, release); !done) return done;
  if (release.built->has_value()) return {};
  const Error& error = release.built->error();
  in_.report.warn(error.message, error.hint);
  return {};
}

Result<std::optional<Candidate>> RequirementProblem::preferred_build(const Package& package,
                                                                     const IntegerSet& values,
                                                                     const std::string& lead,
                                                                     const Assignments& so_far) {
  const auto preferred = in_.options.preferred.find(package.name);
  if (preferred == in_.options.preferred.end()) return std::nullopt;
  for (const wheel::Version& version : preferred->second) {
    for (const NumberedRelease* numbered : package.list->releases_in(values)) {
      Release& release = *numbered->release;
      if (release.version != version) continue;
      const auto options = options_of(package, release);
      if (!options) return std::unexpected(options.error());
      for (std::size_t rank = 0; rank < (*options)->size(); ++rank) {
        const BuildOption& option = (**options)[rank];
        const Candidate candidate = numbered->number(rank);
        if (!values.contains(candidate) || !is_admissible(package, release, option)) continue;
        const std::string label = backend_label(package, release, option);
        if (!may_be_backend(package, label, so_far)) continue;
        // What was locked for another machine is no reason to do without this one's GPU.
        const bool follows = !lead.empty() && label == lead;
        if (!follows && (!lead.empty() || tier(package, release, option) != 0)) continue;
        in_.candidates.note_decision(release, option.label);
        return candidate;
      }
      in_.candidates.note_decision(release, {});
    }
  }
  return std::nullopt;
}

Result<std::optional<Candidate>> RequirementProblem::choose_build(PackageId package,
                                                                  const IntegerSet& values,
                                                                  const Assignments& so_far) {
  const Package& place = packages_[package];
  const CandidateList& list = *place.list;
  follows_nobody_ = false;
  const auto [lead, lead_stays] = lead_of(place, so_far);
  const bool may_stay = list.installed() != not_chosen && values.contains(list.installed());
  const std::string installed_label = may_stay ? label_of(place, list.installed()) : "";
  const bool stays_alike =
      may_stay && may_be_backend(place, backend_of(place, list.installed()), so_far);
  const bool other_label =
      !in_.kept.contains(place.name) &&
      ((!lead.empty() && installed_label != lead) || (may_stay && !stays_alike));
  if (may_stay && !other_label) return list.installed();
  if (may_stay && list.releases().empty() && admissions_.movable.insert(place.name).second)
    return begin_again();
  auto preferred = preferred_build(place, values, lead, so_far);
  if (!preferred || *preferred) return preferred;
  std::optional<Candidate> best;
  unsigned best_tier = 0;
  std::map<std::string, IntegerSet> unlike;  // by label
  Candidate limit = list.releases().empty() ? 0 : list.releases().back().last;
  for (auto next = values.last_below(limit); next; next = values.last_below(limit)) {
    const NumberedRelease* const newest = list.release_of(*next);
    limit = newest == nullptr ? *next : newest->first;
    if (newest == nullptr) continue;  // what is installed
    const NumberedRelease& numbered = *newest;
    const auto options = options_of(place, *numbered.release);
    if (!options) return std::unexpected(options.error());
    bool any = false;
    bool unfit = false;
    std::optional<Candidate> unfit_build;
    for (std::size_t rank = 0; rank < (*options)->size(); ++rank) {
      const BuildOption& option = (**options)[rank];
      const Candidate candidate = numbered.number(rank);
      if (!values.contains(candidate) || !is_admissible(place, *numbered.release, option)) continue;
      const std::string label = backend_label(place, *numbered.release, option);
      if (!may_be_backend(place, label, so_far)) {
        unlike[label] = unlike[label] | IntegerSet::one(candidate);
        any = true;
        continue;
      }
      // Only the first member's label makes up for what the machine does not support.
      if (!option.fits && label != lead && follows_only(place, option)) {
        unfit = true;
        if (!unfit_build) unfit_build = candidate;
        continue;
      }
      any = true;
      const bool follows = !lead.empty() && label == lead;
      const unsigned its_tier =
          follows ? 0 : tier(place, *numbered.release, option) + (lead.empty() ? 0 : 1);
      if (best && its_tier >= best_tier) continue;
      best = candidate;
      best_tier = its_tier;
    }
    const bool settled = best && best_tier == 0;
    in_.candidates.note_decision(*numbered.release,
                                 settled ? option(place, *best)->label : std::string());
    if (settled) return best;
    // Nothing of it can be taken: that is found out when it is.
    if (!any && !best && unlike.empty()) {
      // It may follow the first member, if that one is in the search.
      follows_nobody_ = unfit && !find_project(place.family->anchor());
      return unfit && !follows_nobody_ ? unfit_build : values.last_below(numbered.last);
    }
  }
  // With a first member that stays, what is installed stays too where nothing has its label.
  if (stays_alike && (!best || (lead_stays && best_tier > 0))) return list.installed();
  if (best) return best;
  if (may_stay && !stays_alike)
    unlike[installed_label] = unlike[installed_label] | IntegerSet::one(list.installed());
  if (unlike.empty()) return may_stay ? std::optional(list.installed()) : std::nullopt;
  remember_unlike(package, unlike);
  const IntegerSet& left = unsuited_.at(package).alike;
  return left.last_below(left.boundaries().back());
}

Result<std::optional<Candidate>> RequirementProblem::choose(PackageId package,
                                                            const Assignments& so_far) {
  const IntegerSet& values = so_far.possible(package);
  const Package& place = packages_[package];
  switch (place.kind) {
    case Package::Kind::question:
      return 1;
    case Package::Kind::backend: {
      // Labels have their numbers in the order in which builds were tried: the best come first.
      const IntegerSet some =
          values & IntegerSet::from_to(1, static_cast<Candidate>(place.labels.size()) + 1);
      return some.empty() ? std::nullopt : std::optional(some.boundaries().front());
    }
    case Package::Kind::project: {
      auto chosen = choose_suiting(package, values, so_far);
      if (chosen && *chosen) expect_further(package, **chosen, values);
      return chosen;
    }
    case Package::Kind::extra:
      break;
  }
  const IntegerSet both = values & so_far.possible(place.project);
  if (both.empty()) {
    extra_ranges_.insert_or_assign(package, values);
    return values.last_below(place.list->all().boundaries().back());
  }
  return choose_build(place.project, both, so_far);
}

Error RequirementProblem::no_build_asked_for(const Package& package, const Release& release,
                                             const std::vector<BuildOption>& options) const {
  std::string label = "that can be used here";
  if (admissions_.for_gpu.contains(package.name)) {
    label = "for the GPU that is here";
  } else if (const auto kept = in_.kept.find(package.name); kept != in_.kept.end()) {
    label = kept->second.label;
  } else if (package.family != nullptr) {
    label = given_label(*package.family);
  }
  std::vector<std::string> published;
  for (const BuildOption& option : options)
    published.push_back(option.label.empty() ? "a plain wheel" : option.label);
  return {ErrorKind::unsupported,
          fmt::format("{} {} has no build {}", package.name, wheel::render_version(release.version),
                      label),
          fmt::format("it has {}", fmt::join(published, ", "))};
}

Result<std::variant<const PackageChoice*, Exclusion>> RequirementProblem::take(
    PackageId package, Candidate candidate) {
  if (const auto known = choices_.find({package, candidate}); known != choices_.end())
    return &known->second;
  const Package& place = packages_[package];
  const auto keep = [&](PackageChoice choice) {
    return &choices_.emplace(std::pair(package, candidate), std::move(choice)).first->second;
  };
  const NumberedRelease* const numbered = place.list->release_of(candidate);
  if (numbered == nullptr)
    return keep(in_.chooser.take_installed(*place.list->installed_package()));
  Release& release = *numbered->release;
  const auto options = options_of(place, release);
  if (!options) return std::unexpected(options.error());
  const BuildOption* const build = option(place, candidate);
  const bool alone = std::exchange(follows_nobody_, false);
  const auto counts = [&](const BuildOption& option) {
    return is_admissible(place, release, option) && (option.fits || !alone);
  };
  if (build == nullptr || !counts(*build)) {
    in_.candidates.note_decision(release, {});
    IntegerSet useless = numbered->numbers();
    for (std::size_t rank = 0; rank < (*options)->size(); ++rank) {
      if (counts((**options)[rank]))
        useless = useless & IntegerSet::one(numbered->number(rank)).complement();
    }
    if (useless != numbered->numbers())
      return Exclusion{std::move(useless), remember({Reason::Kind::other_build})};
    auto refused = in_.chooser.take(demand_for(place, release, nullptr), release);
    if (!refused) return std::unexpected(refused.error());
    Error why = refused->has_value() ? no_build_asked_for(place, release, **options)
                                     : std::move(*refused).error();
    return Exclusion{std::move(useless), remember({Reason::Kind::unusable, {}, std::move(why)})};
  }
  if (build->from_source) {
    if (auto done = this->build(place, release); !done) return std::unexpected(done.error());
  }
  auto made = in_.chooser.take(demand_for(place, release, build), release);
  if (!made) return std::unexpected(std::move(made).error());
  if (!made->has_value()) {
    return Exclusion{IntegerSet::one(candidate),
                     remember({Reason::Kind::unusable, {}, std::move(*made).error()})};
  }
  return keep(std::move(**made));
}

std::string RequirementProblem::render_version(PackageId package, Candidate candidate) const {
  const auto known = choices_.find({package, candidate});
  return wheel::render_version(known != choices_.end()
                                   ? known->second.package.version
                                   : packages_[package].list->version_of(candidate));
}

const PackageChoice& RequirementProblem::choice(PackageId package, Candidate candidate) const {
  return choices_.at({package, candidate});
}

}  // namespace axle::resolver
