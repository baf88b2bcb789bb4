// What an environment has only one of: distributions that install the same modules, a label for
// the members of a family, and the libraries of a GPU platform.

#include <algorithm>
#include <set>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "index/family/alternatives.h"
#include "resolver/explain/alternative_messages.h"
#include "resolver/family/gpu_platform.h"
#include "resolver/solver/requirement_problem.h"

namespace axle::resolver {

void RequirementProblem::add_alternative_needs(std::vector<Need>& needs,
                                               const PackageChoice& choice) {
  const std::string& name = choice.package.name;
  const index::Alternatives* group = index::alternatives_of(name);
  if (group == nullptr || in_.options.same_modules) return;
  for (const std::string& other : group->projects()) {
    // One that nobody wants so far will say the same of this one.
    const auto id = other == name ? std::nullopt : find_project(other);
    const bool both_there =
        choice.package.already_installed && in_.families.installed(other) != nullptr;
    if (!id || both_there) continue;
    needs.push_back({*id, IntegerSet::one(not_chosen),
                     remember({Reason::Kind::alternative, {}, same_modules(name, other, *group)})});
  }
}

std::string RequirementProblem::backend_of(const Package& package, Candidate candidate) const {
  if (package.family == nullptr) return {};
  const std::string label = label_of(package, candidate);
  const bool is_installed = candidate == package.list->installed();
  // What is unlike already stays as it is.
  return is_installed && label != in_.families.installed_backend(*package.family) ? std::string()
                                                                                  : label;
}

bool RequirementProblem::may_be_backend(const Package& package, const std::string& label,
                                        const Assignments& so_far) const {
  if (package.family == nullptr || label.empty()) return true;
  const auto known = ids_.find({Package::Kind::backend, package.family->name, std::string()});
  if (known == ids_.end() || known->second >= so_far.package_count()) return true;
  const std::vector<std::string>& labels = packages_[known->second].labels;
  const auto place = std::ranges::find(labels, label);
  return so_far.possible(known->second)
      .contains(static_cast<Candidate>(place - labels.begin()) + 1);
}

void RequirementProblem::add_backend_need(std::vector<Need>& needs, PackageId package,
                                          Candidate candidate) {
  if (admissions_.mixed) return;
  Reason reason{Reason::Kind::backend};
  reason.want.text = backend_of(packages_[package], candidate);
  if (reason.want.text.empty()) return;
  reason.want.by = packages_[package].name;
  reason.want.by_version = render_version(package, candidate);
  const std::string label = reason.want.text;
  needs.push_back(need_of_label(backend(packages_[package].family), label, std::move(reason)));
}

void RequirementProblem::remember_unlike(PackageId package,
                                         const std::map<std::string, IntegerSet>& unlike) {
  Needs needs;
  IntegerSet backends;
  std::vector<std::string> labels;
  const PackageId id = backend(packages_[package].family);
  for (const auto& [label, candidates] : unlike) {
    needs.alike = needs.alike | candidates;
    backends = backends | need_of_label(id, label, {Reason::Kind::backend}).values;
    labels.push_back(label);
  }
  Reason reason{Reason::Kind::backend};
  reason.want.text = fmt::format("{}", fmt::join(labels, " or "));
  reason.want.by = packages_[package].name;
  needs.needs.push_back({id, std::move(backends), remember(std::move(reason))});
  unsuited_.insert_or_assign(package, std::move(needs));
}

bool RequirementProblem::keeps_backends_apart() const {
  return std::ranges::any_of(
      packages_, [](const Package& place) { return place.kind == Package::Kind::backend; });
}

std::string RequirementProblem::platform_of(PackageId package, Candidate candidate,
                                            const PackageChoice& choice) const {
  const Package& place = packages_[package];
  const plan::ResolvedPackage& chosen = choice.package;
  if (place.family == nullptr) {
    std::string platform = gpu_platform(chosen.name, chosen.version, nullptr);
    return platform.empty() ? gpu_platform_of_library(in_.options.gpu_library_of(chosen.url))
                            : platform;
  }
  return gpu_platform(chosen.name, chosen.version, place.family->label(label_of(place, candidate)));
}

void RequirementProblem::add_platform_need(std::vector<Need>& needs, PackageId package,
                                           Candidate candidate, const PackageChoice& choice) {
  if (admissions_.mixed) return;
  Reason reason{Reason::Kind::platform};
  reason.want.text = platform_of(package, candidate, choice);
  if (reason.want.text.empty()) return;
  // What is unlike already stays as it is.
  if (choice.package.already_installed && is_unlike_installed()) return;
  reason.want.by = choice.package.name;
  reason.want.by_version = wheel::render_version(choice.package.version) +
                           in_.options.because_of_library(choice.package.url);
  const std::string platform = reason.want.text;
  needs.push_back(need_of_label(backend(nullptr), platform, std::move(reason)));
}

bool RequirementProblem::is_unlike_installed() {
  if (!unlike_installed_) {
    std::set<std::string> platforms;
    for (const plan::InstalledPackage& package : in_.installed)
      platforms.insert(in_.families.installed_platform(package));
    platforms.erase("");
    unlike_installed_ = platforms.size() > 1;
  }
  return *unlike_installed_;
}

RequirementProblem::Installed RequirementProblem::platforms_beside(
    const std::function<bool(PackageId)>& stays_out) const {
  const auto is_in = [&](const std::string& name) {
    const auto id = find_project(name);
    return id && !stays_out(*id);
  };
  Installed beside;
  for (const plan::InstalledPackage& package : in_.installed) {
    if (is_in(package.name)) continue;
    const index::Alternatives* group = index::alternatives_of(package.name);
    // Another one of its group takes its place.
    const bool replaced = group != nullptr && !in_.options.same_modules;
    if (replaced && std::ranges::any_of(group->projects(), is_in)) continue;
    // What becomes of those that were built for torch is seen when the plan is compared with them.
    if (is_in(std::string(torch_package)) &&
        in_.families.built_for(package.name, package.version, package.dependencies)) {
      continue;
    }
    const std::string platform = in_.families.installed_platform(package);
    if (!platform.empty()) beside.emplace(platform, &package);
  }
  return beside;
}

std::optional<Objection> RequirementProblem::for_another_platform(const Assignments& solution) {
  if (admissions_.mixed || in_.installed.empty() || !in_.options.dependencies) return std::nullopt;
  const auto chosen_of = [&](PackageId package) {
    const bool decided = package < solution.package_count() && solution.is_decided(package);
    return decided ? solution.possible(package).boundaries().front() : not_chosen;
  };
  const Installed beside =
      platforms_beside([&](PackageId package) { return chosen_of(package) == not_chosen; });
  // Where there are several already, one more is not what makes it a mixture.
  if (beside.size() != 1) return std::nullopt;
  const auto& [platform, there] = *beside.begin();
  for (const auto& [place, choice] : choices_) {
    const auto& [package, candidate] = place;
    if (choice.package.already_installed || chosen_of(package) != candidate ||
        packages_[package].kind != Package::Kind::project)
      continue;
    const std::string own = platform_of(package, candidate, choice);
    if (own.empty() || own == platform) continue;
    Error why{ErrorKind::unsupported,
              fmt::format("it is for {}, and {} {}, which is installed, is for {}", own,
                          there->name, wheel::render_version(there->version), platform),
              fmt::format("name {} in the same command, or ask for a build for {}", there->name,
                          platform)};
    Objection objection{{{package, IntegerSet::one(candidate)}},
                        remember({Reason::Kind::platform, {}, std::move(why)})};
    if (const auto other = find_project(there->name))
      objection.terms.push_back({*other, IntegerSet::one(not_chosen)});
    return objection;
  }
  return std::nullopt;
}

}  // namespace axle::resolver
