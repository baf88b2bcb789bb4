// From the finished search to the resolution, and what is worth saying about it.

#include <algorithm>
#include <set>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "resolver/explain/alternative_messages.h"
#include "resolver/explain/messages.h"
#include "resolver/family/device_packages.h"
#include "resolver/family/family_remarks.h"
#include "resolver/solver/resolution_search.h"

namespace axle::resolver {
namespace {

plan::ResolvedPackage* find_planned(plan::Resolution& resolution, const std::string& name) {
  const auto found = std::ranges::find(resolution.packages, name, &plan::ResolvedPackage::name);
  return found == resolution.packages.end() ? nullptr : &*found;
}

bool holds(const InstalledNeed& need, const wheel::Version& version, const std::string& label,
           Families& families) {
  return (!need.built || families.suits(*need.built, version, label)) &&
         std::ranges::any_of(need.any_of, [&](const wheel::SpecifierSet& specifiers) {
           return specifiers.contains(version);
         });
}

}  // namespace

plan::Resolution ResolutionSearch::outcome() {
  plan::Resolution resolution;
  for (auto& [name, settled] : settled_) {
    PackageChoice& choice = settled.choice;
    plan::ResolvedPackage package = choice.package;
    for (const Remark& remark : choice.remarks) in_.report.add(remark);
    if (auto remark = device_remark(choice, settled.extras, in_.target, in_.options))
      in_.report.add(std::move(*remark));
    if (choice.yanked) {
      in_.report.warn(fmt::format("{} {} is yanked{}{}", name,
                                  wheel::render_version(package.version),
                                  choice.yanked->empty() ? "" : ": ", *choice.yanked));
    }
    if (in_.options.dependencies) {
      package.dependencies = requests_.dependencies_of(choice, settled.extras);
      package.needs.always = requests_.dependencies_of(choice, {});
      for (const std::string& extra : settled.extras)
        package.needs.extras[extra] = requests_.dependencies_of_extra(choice, extra);
    }
    std::set<std::string> owners;
    for (const Want& want : settled.wants) {
      if (want.constraint || want.by == name) continue;
      if (want.by.empty()) {
        package.requested = true;
      } else {
        owners.insert(want.by + " " + want.by_version);
      }
    }
    package.required_by.assign(owners.begin(), owners.end());
    resolution.packages.push_back(std::move(package));
  }
  settle_alternatives(resolution);
  for (const auto& [name, label] : in_.options.pinned_variants) {
    if (settled_.contains(name)) continue;
    in_.report.warn(fmt::format(
        "variant {} is requested for {}, which is not part of this resolution", label, name));
  }
  for (const std::string& name : in_.options.plain_only) {
    if (settled_.contains(name)) continue;
    in_.report.warn(fmt::format(
        "a plain wheel is requested for {}, which is not part of this resolution", name));
  }
  return resolution;
}

void ResolutionSearch::settle_alternatives(plan::Resolution& resolution) {
  for (const auto& [owner, settled] : settled_) {
    if (!in_.options.dependencies) break;
    for (const auto& [own, name] : requests_.stood_in_for(settled.choice, settled.extras)) {
      plan::ResolvedPackage* package = find_planned(resolution, name);
      if (package == nullptr) continue;
      const std::string other = wheel::normalize_name(own.name);
      if (std::ranges::find(package->stands_for, other) == package->stands_for.end())
        package->stands_for.push_back(other);
      in_.report.note(fmt::format("{} {} stands for {}, which {} {} requires: both install {}",
                                  name, wheel::render_version(package->version),
                                  wheel::render_requirement(own), owner,
                                  wheel::render_version(settled.choice.package.version),
                                  fmt::join(index::alternatives_of(name)->modules, ", ")));
    }
  }
  for (plan::ResolvedPackage& package : resolution.packages) {
    std::ranges::sort(package.stands_for);
    const index::Alternatives* group =
        package.already_installed ? nullptr : index::alternatives_of(package.name);
    if (group == nullptr) continue;
    for (const std::string& other : group->projects()) {
      if (in_.options.same_modules) break;
      if (other != package.name && in_.families.installed(other) != nullptr)
        resolution.replaced.push_back(other);
    }
    remark_on_alternative(*group, settled_.at(package.name));
  }
}

void ResolutionSearch::remark_on_alternative(const index::Alternatives& group,
                                             const SettledPackage& settled) {
  const std::string& name = settled.choice.package.name;
  const auto chosen = std::ranges::find_if(group.members, [&](const auto& member) {
    const auto has = [&](const std::string& extra) {
      return std::ranges::find(settled.extras, extra) != settled.extras.end();
    };
    return member.project == name && std::ranges::all_of(member.extras, has);
  });
  const index::AlternativeMember* best = best_alternative(group, in_.target, in_.options);
  if (best == nullptr || chosen == group.members.end() || !chosen->needs.empty()) return;
  in_.report.note(fmt::format(
      "{} {} is chosen; {} has the same modules for this machine: name it, or use --alternatives",
      name, wheel::render_version(settled.choice.package.version), render_member(*best)));
}

std::vector<BackendChange> ResolutionSearch::changed_backends(
    const plan::Resolution& resolution) const {
  return backend_changes(resolution, settled_, in_.families, in_.options);
}

std::vector<BrokenNeed> ResolutionSearch::broken_needs(const plan::Resolution& resolution) const {
  std::vector<BrokenNeed> broken;
  const auto planned = [&](const std::string& name) -> const plan::ResolvedPackage* {
    const auto found = std::ranges::find(resolution.packages, name, &plan::ResolvedPackage::name);
    return found == resolution.packages.end() || found->already_installed ? nullptr : &*found;
  };
  if (std::ranges::all_of(resolution.packages, &plan::ResolvedPackage::already_installed))
    return broken;
  for (const plan::InstalledPackage& neighbour : in_.installed) {
    if (planned(neighbour.name) != nullptr) continue;
    for (InstalledNeed& need : needs_of(neighbour, in_.target.markers, in_.families)) {
      const plan::ResolvedPackage* package = planned(need.package);
      if (package == nullptr) continue;
      const std::string backend = planned_backend(*package, in_.families).label;
      if (holds(need, package->version, backend, in_.families)) continue;
      const plan::InstalledPackage* old = in_.families.installed(need.package);
      const bool was_sound =
          old != nullptr &&
          holds(need, old->version, in_.families.installed_label(*old), in_.families);
      std::string gets =
          fmt::format("{} {}", package->name, wheel::render_version(package->version));
      if (!backend.empty() && package->version.local.empty()) gets += fmt::format(" ({})", backend);
      broken.push_back({{neighbour.name, wheel::render_version(neighbour.version), need.text, gets},
                        std::move(need),
                        was_sound,
                        package->requested});
    }
  }
  return broken;
}

Result<void> ResolutionSearch::check_required() const {
  for (const std::string& ns : in_.options.required) {
    const bool used = std::ranges::any_of(settled_, [&](const auto& entry) {
      const plan::ResolvedPackage& package = entry.second.choice.package;
      if (package.already_installed) return is_installed_for(entry.first, ns);
      return std::ranges::find(package.variant_properties, ns, &wheel::Property::ns) !=
             package.variant_properties.end();
    });
    if (used) continue;
    std::string requested;
    for (const auto& [name, settled] : settled_) {
      const bool by_user = std::ranges::any_of(settled.wants, &Want::is_request);
      if (requested.empty() && by_user) requested = name;
    }
    return fail(ErrorKind::unsupported,
                fmt::format("none of these packages is built for {}, which --require demands", ns),
                requested.empty()
                    ? std::string()
                    : fmt::format("`variant explain {}` shows the available builds", requested));
  }
  return {};
}

bool ResolutionSearch::is_installed_for(const std::string& name, const std::string& ns) const {
  const plan::InstalledPackage& installed = *in_.families.installed(name);
  return std::ranges::find(installed.variant_properties, ns, &wheel::Property::ns) !=
             installed.variant_properties.end() ||
         in_.families.is_built_for(installed, ns);
}

Result<void> ResolutionSearch::check_hashes() const {
  if (!requests_.hash_rules().required) return {};
  std::vector<std::string> without;
  std::vector<std::string> lines;
  for (const auto& [name, settled] : settled_) {
    const plan::ResolvedPackage& package = settled.choice.package;
    // An sdist of an index had a listed hash, or it would not have been built.
    const bool checked =
        package.built_from && (!package.direct || package.built_from->hash_is_given);
    if (package.already_installed || checked) continue;
    const bool named = package.direct && !package.built_from && !package.hash.empty();
    if (!package.listed_hashes.empty() || named) continue;
    std::vector<const Want*> wants;
    for (const Want& want : settled.wants) wants.push_back(&want);
    without.push_back(fmt::format("{} ({})", name, render_wants(wants)));
    const std::string_view digits = package.hash.sha256().empty() ? "…" : package.hash.sha256();
    lines.push_back(fmt::format("{}=={} --hash=sha256:{}", name,
                                wheel::render_version(package.version), digits));
  }
  if (without.empty()) return {};
  return std::unexpected(hashes_missing(without, lines));
}

}  // namespace axle::resolver
