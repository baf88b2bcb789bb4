#include "session/changes/refit.h"

#include <algorithm>
#include <expected>
#include <iterator>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>

#include <fmt/format.h>

#include "foundation/text/nearest.h"
#include "index/family/alternatives.h"
#include "resolver/family/stand_ins.h"
#include "resolver/solver/solver.h"
#include "wheel/requirement.h"

namespace axle::session {
namespace {

using installer::InstalledDistribution;

/// What is chosen together: the members of a family, the first one first, or one package.
struct Unit {
  std::vector<const InstalledDistribution*> packages;
  const index::Family* family = nullptr;
  bool named = false;

  /// Another machine would, or might, get another build.
  [[nodiscard]] bool has_builds() const {
    return family != nullptr || named || packages.front()->variant.has_value();
  }
};

/// How much of the installed versions is kept.
enum class Keep : std::uint8_t { all, first, none };

resolver::Requests requests_for(const Unit& unit, Keep keep) {
  resolver::Requests requests;
  for (const InstalledDistribution* package : unit.packages) {
    wheel::Requirement requirement;
    requirement.name = package->name;
    const bool pinned = keep == Keep::all || (keep == Keep::first && package == unit.packages[0]);
    const wheel::Version& version = package->metadata.version;
    if (pinned) {
      requirement.specifiers.specifiers.push_back(
          {wheel::Comparison::equal,
           unit.family != nullptr ? version.public_version() : version,
           false,
           {}});
    }
    requests.requirements.push_back({std::move(requirement)});
  }
  return requests;
}

std::vector<std::string> names_of(const std::vector<InstalledDistribution>& installed) {
  std::vector<std::string> names;
  for (const InstalledDistribution& one : installed) {
    if (!one.outer) names.push_back(one.name);
  }
  return names;
}

/// The names that are asked for; empty: all.
Outcome<std::set<std::string>> named_packages(const Workspace& workspace,
                                              const std::vector<InstalledDistribution>& installed) {
  std::set<std::string> names;
  for (const resolver::Request& request : workspace.requests.requirements) {
    const wheel::Requirement& requirement = request.requirement;
    const std::string name = wheel::normalize_name(requirement.name);
    const bool is_name = requirement.specifiers.empty() && requirement.url.empty() &&
                         requirement.extras.empty() && !requirement.marker;
    if (!is_name) {
      return misused(fmt::format("--refit takes names of installed packages, not {}",
                                 wheel::render_requirement(requirement)),
                     "without --refit the same command installs it");
    }
    const auto found = std::ranges::find(installed, name, &InstalledDistribution::name);
    if (found == installed.end() || found->outer)
      return misused(
          fmt::format("--refit: {} is not installed here", name),
          text::suggest(name, names_of(installed), "`variant list` shows what is installed"));
    names.insert(name);
  }
  return names;
}

Outcome<std::vector<Unit>> units_of(const Workspace& workspace,
                                    const std::vector<InstalledDistribution>& installed) {
  const auto names = named_packages(workspace, installed);
  if (!names) return std::unexpected(names.error());
  std::vector<Unit> units;
  std::map<const index::Family*, std::size_t> of_family;
  for (const InstalledDistribution& package : installed) {
    if (package.outer || (!package.direct_url.empty() && !names->contains(package.name))) continue;
    const index::Family* family = nullptr;
    if (workspace.families != nullptr) {
      const auto found = workspace.families->of_project(package.name);
      if (!found) return failed(found.error());
      if (*found != nullptr && (*found)->has_member(package.name)) family = *found;
    }
    const auto [place, is_new] = family == nullptr ? std::pair(of_family.end(), true)
                                                   : of_family.try_emplace(family, units.size());
    if (is_new) units.emplace_back();
    Unit& unit = is_new ? units.back() : units[place->second];
    const bool leads = family != nullptr && package.name == family->anchor();
    unit.packages.insert(leads ? unit.packages.begin() : unit.packages.end(), &package);
    unit.family = family;
    unit.named = unit.named || names->contains(package.name);
  }
  if (!names->empty()) std::erase_if(units, [](const Unit& unit) { return !unit.named; });
  return units;
}

std::string render_unit(const Unit& unit) {
  const InstalledDistribution& first = *unit.packages.front();
  return fmt::format("{} {}", first.name, wheel::render_version(first.metadata.version));
}

bool stays(const plan::Resolution& chosen) {
  return std::ranges::all_of(chosen.packages, &plan::ResolvedPackage::already_installed);
}

/// What is chosen of a family counts only where nothing else fits.
bool is_fallback(const Unit& unit, const plan::Resolution& chosen) {
  if (unit.family == nullptr) return false;
  const std::string& first = unit.packages.front()->name;
  const auto package = std::ranges::find(chosen.packages, first, &plan::ResolvedPackage::name);
  return package != chosen.packages.end() && package->variant &&
         unit.family->is_fallback(*package->variant);
}

/// The distribution that this machine prefers to an installed one with the same modules; nullptr:
/// none, or that one itself.
const index::AlternativeMember* preferred_alternative(const InstalledDistribution& installed,
                                                      const resolver::Target& target,
                                                      const resolver::Options& options) {
  const index::Alternatives* group = index::alternatives_of(installed.name);
  if (group == nullptr) return nullptr;
  const auto own =
      std::ranges::find(group->members, installed.name, &index::AlternativeMember::project);
  const index::AlternativeMember* best = resolver::best_alternative(*group, target, options);
  if (best == nullptr && !own->needs.empty()) {
    const auto plain = std::ranges::find_if(
        group->members, [](const index::AlternativeMember& one) { return one.needs.empty(); });
    if (plain != group->members.end()) best = &*plain;
  }
  // Extras of one project are its user's choice, and one of two that need the same is as good.
  const bool other =
      best != nullptr && best->project != installed.name && best->needs != own->needs;
  return other ? best : nullptr;
}

/// Chooses units on their own, as if nothing else were installed.
class Refitting {
 public:
  Refitting(const Workspace& workspace, const resolver::Target& target, Report& report)
      : workspace_(workspace), target_(target), options_(workspace.options), report_(report) {
    options_.dependencies = false;
    options_.required.clear();
  }

  /// What is to be requested of `unit`; empty: nothing, it stays.
  [[nodiscard]] Outcome<resolver::Requests> requests(const Unit& unit);

 private:
  [[nodiscard]] std::expected<plan::Resolution, resolver::Unresolved> choose(
      const Unit& unit, const resolver::Requests& requests);
  /// What is to be requested in the place of one of several distributions with the same modules;
  /// nullopt: nothing.
  [[nodiscard]] std::optional<resolver::Requests> instead_of(const Unit& unit);

  const Workspace& workspace_;
  const resolver::Target& target_;
  resolver::Options options_;
  Report& report_;
};

std::expected<plan::Resolution, resolver::Unresolved> Refitting::choose(
    const Unit& unit, const resolver::Requests& requests) {
  std::vector<InstalledDistribution> there;
  for (const InstalledDistribution* package : unit.packages) there.push_back(*package);
  CollectedReport unheard;  // said when the whole is chosen
  return resolver::resolve(requests, target_, installed_packages(there), workspace_.sources,
                           options_, unheard);
}

std::optional<resolver::Requests> Refitting::instead_of(const Unit& unit) {
  const InstalledDistribution& installed = *unit.packages.front();
  const auto* other = preferred_alternative(installed, target_, workspace_.options);
  if (other == nullptr) return std::nullopt;
  wheel::Requirement requirement;
  requirement.name = other->project;
  requirement.extras = other->extras;
  const bool same_versions = index::alternatives_of(installed.name)->same_versions;
  for (const bool pinned : {true, false}) {
    if (pinned && !same_versions) continue;
    requirement.specifiers = {};
    if (pinned) {
      requirement.specifiers.specifiers.push_back(
          {wheel::Comparison::equal, installed.metadata.version.public_version(), false, {}});
    }
    resolver::Requests requests;
    requests.requirements.push_back({requirement});
    if (choose(unit, requests)) return requests;
  }
  return std::nullopt;
}

Outcome<resolver::Requests> Refitting::requests(const Unit& unit) {
  if (auto other = instead_of(unit)) return std::move(*other);
  std::optional<Error> trouble;
  std::optional<resolver::Requests> fallback;
  for (const Keep keep : {Keep::all, Keep::first, Keep::none}) {
    resolver::Requests requests = requests_for(unit, keep);
    const auto chosen = choose(unit, requests);
    if (chosen) {
      if (stays(*chosen)) requests = {};
      // Another version may have a build that is more than a fallback.
      if (!is_fallback(unit, *chosen)) return requests;
      if (!fallback) fallback = std::move(requests);
      continue;
    }
    const Error& error = chosen.error();
    if (error.kind == ErrorKind::io) return failed(error);
    if (!unit.has_builds()) return resolver::Requests();
    if (!trouble) trouble = error;
  }
  if (fallback) return std::move(*fallback);
  if (unit.named) return failed_to_choose(*trouble);
  report_.warn(fmt::format("{} is left as it is: {}", render_unit(unit), trouble->message),
               trouble->hint);
  return resolver::Requests();
}

}  // namespace

Outcome<resolver::Requests> refit_requests(Workspace& workspace, const resolver::Target& target,
                                           const std::vector<InstalledDistribution>& installed,
                                           Report& report) {
  const auto units = units_of(workspace, installed);
  if (!units) return std::unexpected(units.error());
  workspace.options.upgrade = true;
  workspace.options.allow_backend_change = true;
  Refitting refitting(workspace, target, report);
  resolver::Requests all = workspace.requests;
  all.requirements.clear();
  for (const Unit& unit : *units) {
    auto requests = refitting.requests(unit);
    if (!requests) return std::unexpected(requests.error());
    std::ranges::move(requests->requirements, std::back_inserter(all.requirements));
  }
  return all;
}

}  // namespace axle::session
