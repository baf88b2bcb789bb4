// Requirements of installed packages that do not hold, and what satisfies all of them.
#include <algorithm>
#include <set>

#include <fmt/core.h>

#include "doctor/environment_checks.h"
#include "foundation/system/shell_command.h"
#include "resolver/family/built_for.h"
#include "wheel/requirement.h"
#include "wheel/version.h"

namespace axle::doctor {

namespace {

using installer::InstalledDistribution;

/// What the installed packages want of one of them.
struct Wants {
  std::vector<std::string> owners;  ///< names
  wheel::Requirement all;           ///< name, extras and specifiers of all of them
};

Wants wants_of(const std::string& name, const InstalledFiles& files,
               const std::vector<InstalledDistribution>& distributions) {
  const wheel::MarkerEnvironment& markers = files.environment.markers;
  Wants wants;
  wants.all.name = name;
  std::set<std::string> extras;
  std::set<std::string> said;
  for (const InstalledDistribution& owner : distributions) {
    for (const wheel::Requirement& requirement : owner.metadata.requires_dist) {
      if (wheel::normalize_name(requirement.name) != name || !requirement.url.empty()) continue;
      if (requirement.marker && !requirement.marker->evaluate(markers, "")) continue;
      extras.insert(requirement.extras.begin(), requirement.extras.end());
      for (const wheel::Specifier& specifier : requirement.specifiers.specifiers) {
        if (said.insert(wheel::render_specifiers({{specifier}})).second)
          wants.all.specifiers.specifiers.push_back(specifier);
      }
      if (std::ranges::find(wants.owners, owner.name) == wants.owners.end() && !owner.outer)
        wants.owners.push_back(owner.name);
    }
  }
  wants.all.extras.assign(extras.begin(), extras.end());
  return wants;
}

/// Whether some version may satisfy them: those that they name and their neighbours are tried.
bool is_satisfiable(const wheel::SpecifierSet& set) {
  if (set.empty()) return true;
  std::vector<wheel::Version> candidates;
  for (const wheel::Specifier& specifier : set.specifiers) {
    // What `===` means is a text.
    if (specifier.comparison == wheel::Comparison::arbitrary) return true;
    wheel::Version version = specifier.version;
    candidates.push_back(version);
    version = version.public_version();
    if (version.release.empty()) continue;
    wheel::Version next = version;
    next.release.push_back(1);
    candidates.push_back(next);
    next = version;
    ++next.release.back();
    candidates.push_back(next);
    next = version;
    while (next.release.size() > 1 && next.release.back() == 0) next.release.pop_back();
    if (next.release.back() == 0) continue;
    --next.release.back();
    next.release.push_back(9999);
    candidates.push_back(next);
  }
  return std::ranges::any_of(candidates, [&](const auto& one) { return set.contains(one); });
}

Hint fix_of(const wheel::Requirement& broken, const InstalledFiles& files,
            const std::vector<InstalledDistribution>& distributions) {
  const auto command = [&](std::vector<std::string> words) {
    words.insert(words.begin(), {"variant", "install"});
    return Hint{"", {shell_command(words) + files.python_option()}};
  };
  wheel::Requirement bare = broken;
  bare.marker.reset();
  if (!bare.url.empty()) return command({wheel::render_requirement(bare)});
  const Wants wants = wants_of(wheel::normalize_name(broken.name), files, distributions);
  if (wants.owners.size() < 2) return command({wheel::render_requirement(bare)});
  if (is_satisfiable(wants.all.specifiers)) return command({wheel::render_requirement(wants.all)});
  std::vector<std::string> words = {"--upgrade"};
  words.insert(words.end(), wants.owners.begin(), wants.owners.end());
  Hint hint = command(words);
  hint.words =
      "no version satisfies all packages that need it; newer versions of these may be compatible";
  return hint;
}

/// A local version that says which torch a package was built for, where another is installed.
void check_built_for(const InstalledFiles& files,
                     const std::vector<InstalledDistribution>& distributions, Findings& findings) {
  const auto torch =
      std::ranges::find(distributions, resolver::torch_package, &InstalledDistribution::name);
  if (torch == distributions.end()) return;
  const wheel::Version& version = torch->metadata.version;
  const auto build = resolver::parse_built_for(version);
  for (const InstalledDistribution& owner : distributions) {
    const auto built = resolver::parse_built_for(owner.metadata.version);
    if (&owner == &*torch || !built || !built->says_torch()) continue;
    const bool other_backend = build && !built->vendor.empty() &&
                               (build->vendor != built->vendor || build->toolkit != built->toolkit);
    if (built->versions().contains(version) && !other_backend) continue;
    Finding& finding = findings.add(
        "requirement-broken",
        fmt::format("{} {}", owner.name, wheel::render_version(owner.metadata.version)),
        fmt::format("it was built for {}, but {} {} is installed", built->render(), torch->name,
                    wheel::render_version(version)));
    finding.evidence.push_back({"", "METADATA", fmt::format("Version: +{}", built->local)});
    finding.hint.words = fmt::format(
        "install the build of {} for the installed {}, or the one that it was built for",
        owner.name, torch->name);
    if (owner.outer) continue;
    const std::vector<std::string> words = {"variant", "install", "--upgrade", owner.name};
    finding.hint.commands.push_back(shell_command(words) + files.python_option());
  }
}

}  // namespace

void check_requirements(const InstalledFiles& files,
                        const std::vector<InstalledDistribution>& distributions,
                        Findings& findings) {
  for (const installer::BrokenRequirement& broken :
       installer::check_installed(distributions, files.environment)) {
    const auto requirement = wheel::parse_requirement(broken.requirement);
    const std::string wanted = requirement ? requirement->name : broken.requirement;
    Finding& finding =
        findings.add("requirement-broken", broken.package,
                     broken.found.empty()
                         ? fmt::format("it requires {}, which is not installed", broken.requirement)
                         : fmt::format("it requires {}, but {} {} is installed", broken.requirement,
                                       wanted, broken.found));
    finding.evidence.push_back(
        {"", "METADATA", fmt::format("Requires-Dist: {}", broken.requirement)});
    finding.hint = requirement ? fix_of(*requirement, files, distributions)
                               : Hint("install another version of the package that requires it");
  }
  check_built_for(files, distributions, findings);
}

}  // namespace axle::doctor
