// One backend for all packages of a solution, unless the user asks for a mixture.

#include <algorithm>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "resolver/explain/alternative_messages.h"
#include "resolver/family/family_remarks.h"
#include "resolver/family/gpu_platform.h"
#include "resolver/solver/resolution_search.h"

namespace axle::resolver {
namespace {

BuildFor build_for(const SettledPackage& settled, const Options& options, std::string backend) {
  const plan::ResolvedPackage& package = settled.choice.package;
  return {fmt::format("{} {}{}", package.name, wheel::render_version(package.version),
                      options.because_of_library(package.url)),
          std::move(backend)};
}

bool pins_version(const Want& want) {
  return std::ranges::any_of(want.requirement.specifiers.specifiers, [](const auto& specifier) {
    return specifier.comparison == wheel::Comparison::equal ||
           specifier.comparison == wheel::Comparison::arbitrary;
  });
}

}  // namespace

ResolutionSearch::Platforms ResolutionSearch::platforms(const RequirementProblem& problem,
                                                        const Solution& solution) const {
  Platforms platforms;
  for (const auto& [name, settled] : settled_) {
    const index::Family* family = in_.families.of(name);
    if (family != nullptr && !leads(*family, name)) continue;
    const PackageId package = *problem.find_project(name);
    const std::string platform =
        problem.platform_of(package, solution.chosen[package], settled.choice);
    if (!platform.empty()) platforms[platform].push_back(&settled);
  }
  return platforms;
}

bool ResolutionSearch::replaces_installed() const {
  return std::ranges::any_of(settled_, [&](const auto& entry) {
    return !entry.second.choice.package.already_installed &&
           in_.families.installed(entry.first) != nullptr;
  });
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

bool ResolutionSearch::leads(const index::Family& family, const std::string& name) const {
  const auto first = std::ranges::find_if(
      family.members, [&](const std::string& member) { return settled_.contains(member); });
  return first != family.members.end() && *first == name;
}

std::vector<std::string> ResolutionSearch::idle_fallbacks() const {
  std::vector<std::string> idle;
  for (const auto& [name, settled] : settled_) {
    const index::Family* family = in_.families.of(name);
    const plan::ResolvedPackage& package = settled.choice.package;
    if (family != nullptr && leads(*family, name) && !package.already_installed &&
        package.variant && family->is_fallback(*package.variant) &&
        in_.families.has_device_for(*family) &&
        in_.families.installed_backend(*family) != *package.variant &&
        !is_build_given(family, name, settled_, in_.families, in_.options))
      idle.push_back(name);
  }
  return idle;
}

Result<bool> ResolutionSearch::gives_up_gpu(RequirementProblem& problem) {
  bool gives_up = false;
  for (const std::string& name : idle_fallbacks()) {
    if (in_.kept.contains(name)) continue;
    const PackageId package = *problem.find_project(name);
    const auto& place = problem.packages()[package];
    IntegerSet allowed = wanted_of(problem, package);
    for (const Exclusion& exclusion : place.exclusions)
      allowed = allowed & exclusion.alike.complement();
    const auto for_gpu = problem.has_build_for_gpu(package, allowed);
    if (!for_gpu) return std::unexpected(for_gpu.error());
    if (*for_gpu) gives_up = admissions_.for_gpu.insert(name).second || gives_up;
  }
  return gives_up;
}

ResolutionSearch::Mixture ResolutionSearch::mixture_of_platforms(const RequirementProblem& problem,
                                                                 const Solution& solution) const {
  Mixture mixture;
  const Platforms found = platforms(problem, solution);
  const auto beside = problem.platforms_beside(
      [&](PackageId package) { return solution.chosen[package] == not_chosen; });
  const bool alike =
      found.empty() || beside.empty() ||
      std::ranges::all_of(found, [&](const auto& entry) { return beside.contains(entry.first); });
  if (found.size() < 2 && alike) return mixture;
  // A name with a platform is a wish for it, and so is a version or a build of the user's.
  const auto is_asked_for = [&](const SettledPackage* settled) {
    const plan::ResolvedPackage& package = settled->choice.package;
    const index::Family* family = in_.families.of(package.name);
    return package.already_installed ||
           is_build_given(family, package.name, settled_, in_.families, in_.options) ||
           std::ranges::any_of(settled->wants, [&](const Want& want) {
             return want.is_request() &&
                    (pins_version(want) || !gpu_platform_of_name(package.name).empty());
           });
  };
  std::vector<BuildFor> builds;
  for (const auto& [platform, packages] : found) {
    builds.push_back(build_for(*packages.front(), in_.options, platform));
    const bool there = beside.contains(platform);
    mixture.asked = mixture.asked && (there || std::ranges::any_of(packages, is_asked_for));
  }
  for (const auto& [platform, package] : beside) {
    if (found.contains(platform)) continue;
    builds.push_back({fmt::format("{} {}, which is installed,", package->name,
                                  wheel::render_version(package->version)),
                      platform});
  }
  mixture.error = unlike_platforms(builds);
  return mixture;
}

ResolutionSearch::Mixture ResolutionSearch::mixture_of_labels(const RequirementProblem& problem,
                                                              const Solution& solution,
                                                              const index::Family& family) const {
  Mixture mixture;
  std::vector<BuildFor> builds;
  std::map<std::string, bool> asked_for;  // by label
  for (const std::string& name : family.members) {
    const auto found = settled_.find(name);
    if (found == settled_.end()) continue;
    const SettledPackage& settled = found->second;
    const PackageId package = *problem.find_project(name);
    const std::string label =
        problem.backend_of(problem.packages()[package], solution.chosen[package]);
    if (label.empty()) continue;
    builds.push_back(build_for(settled, in_.options, label));
    bool& asked = asked_for[label];
    asked = asked || settled.choice.package.already_installed || in_.kept.contains(name) ||
            names_build(&family, name, settled_, in_.families, in_.options);
  }
  if (asked_for.size() < 2) return mixture;
  mixture.asked = std::ranges::all_of(asked_for, [](const auto& label) { return label.second; });
  mixture.error = unlike_labels(builds);
  return mixture;
}

std::vector<ResolutionSearch::Mixture> ResolutionSearch::mixtures(const RequirementProblem& problem,
                                                                  const Solution& solution) const {
  std::vector<Mixture> found{mixture_of_platforms(problem, solution)};
  std::set<const index::Family*> seen;
  for (const auto& [name, settled] : settled_) {
    const index::Family* family = in_.families.of(name);
    if (family != nullptr && seen.insert(family).second)
      found.push_back(mixture_of_labels(problem, solution, *family));
  }
  std::erase_if(found, [](const Mixture& mixture) { return !mixture.error; });
  return found;
}

Result<bool> ResolutionSearch::weighs_mixture(const RequirementProblem& problem,
                                              const Solution& solution) {
  if (!admissions_.mixed) {
    if (apart_ != Apart::not_tried || !problem.keeps_backends_apart() || idle_fallbacks().empty())
      return false;
    apart_ = Apart::found;
    admissions_.mixed = true;
    return true;
  }
  const std::vector<Mixture> found = mixtures(problem, solution);
  const bool unasked = !std::ranges::all_of(found, &Mixture::asked);
  // It is idle for another reason, or what is installed may stay as it is: the planner sees to
  // that.
  if (apart_ == Apart::found && (!idle_fallbacks().empty() || (unasked && replaces_installed()))) {
    apart_ = Apart::final;
    admissions_.mixed = false;
    return true;
  }
  for (const Mixture& mixture : found) {
    if (mixture.asked) continue;
    // It is what is said, unless what counts last makes up for it.
    if (!refusal_) refusal_.emplace();
    refusal_->error = *mixture.error;
    apart_ = Apart::final;
    admissions_.mixed = false;
    return true;
  }
  for (const Mixture& mixture : found) in_.report.warn(mixture.error->message);
  return false;
}

}  // namespace axle::resolver
