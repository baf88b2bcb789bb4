// From the settled worklist to the resolution, and what is worth saying about it.

#include <algorithm>
#include <set>
#include <utility>

#include <fmt/format.h>

#include "resolver/solver/worklist.h"

namespace axle::resolver {

namespace {

/// CUDA's major version of a build: "13" of cu132, "none" of cpu; empty: not known.
std::string cuda_of(const index::Family* family, const std::string& label) {
  const index::FamilyLabel* known = family == nullptr ? nullptr : family->label(label);
  if (known == nullptr) return {};
  if (known->vendor != "nvidia") return "none";
  return known->toolkit.substr(0, known->toolkit.find('.'));
}

bool holds(const InstalledNeed& need, const wheel::Version& version, const std::string& cuda) {
  return (need.cuda.empty() || cuda.empty() || need.cuda == cuda) &&
         std::ranges::any_of(need.any_of, [&](const wheel::SpecifierSet& specifiers) {
           return specifiers.contains(version);
         });
}

}  // namespace

plan::Resolution Worklist::outcome() {
  plan::Resolution resolution;
  for (auto& [name, node] : nodes_) {
    if (!node.choice) continue;
    plan::ResolvedPackage& package = node.choice->package;
    for (Remark& remark : node.choice->remarks) report_.add(std::move(remark));
    const std::string version = wheel::render_version(package.version);
    if (node.choice->yanked) {
      report_.warn(fmt::format("{} {} is yanked{}{}", name, version,
                               node.choice->yanked->empty() ? "" : ": ", *node.choice->yanked));
    }
    if (!node.excluded.empty() && node.excluded.rbegin()->first > node.choice->release) {
      report_.note(fmt::format("{} {} is taken, not {}: {}", name, version,
                               wheel::render_version(node.excluded.rbegin()->first),
                               node.excluded.rbegin()->second));
    }
    std::set<std::string> owners;
    for (const Want& want : node.wants) {
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
  const auto is_part = [&](const std::string& name) {
    return std::ranges::find(resolution.packages, name, &plan::ResolvedPackage::name) !=
           resolution.packages.end();
  };
  for (const auto& [name, label] : options_.pinned_variants) {
    if (is_part(name)) continue;
    report_.warn(
        fmt::format("variant {} is asked for of {}, which is not part of this", label, name));
  }
  for (const std::string& name : options_.plain_only) {
    if (is_part(name)) continue;
    report_.warn(fmt::format("a plain wheel is asked for of {}, which is not part of this", name));
  }
  return resolution;
}

std::vector<BackendChange> Worklist::backend_changes(const plan::Resolution& resolution) {
  std::vector<BackendChange> changes;
  for (const plan::ResolvedPackage& package : resolution.packages) {
    const plan::InstalledPackage* installed = chooser_.installed(package.name);
    if (package.already_installed || installed == nullptr) continue;
    const index::Family* family = chooser_.family_of(package.name);
    if (family != nullptr && options_.open_families.contains(family->name)) continue;
    const Backend from = installed_backend(*installed, chooser_);
    const Backend to = planned_backend(package, chooser_);
    if (!is_backend_change(from, to) || is_build_given(family, package.name)) continue;
    const wheel::Version release =
        family == nullptr ? package.version : package.version.public_version();
    BackendChange change{{package.name, wheel::render_version(installed->version), from.label,
                          wheel::render_version(package.version), to.label},
                         {from.label, std::nullopt}};
    // Whoever names a package wants its newest version; for others an older one does. What this
    // machine would get may be older than what is installed, which then is the newest.
    if (package.requested) {
      const auto allows = [&](const Want* want) {
        return (family != nullptr && family->has_member(want->by)) ||
               want->requirement.specifiers.contains(installed->version);
      };
      const Node& node = nodes_.find(package.name)->second;
      const bool newer = installed->version > package.version &&
                         std::ranges::all_of(binding_wants(package.name, node.wants), allows);
      change.kept.version = newer ? installed->version.public_version() : release;
    }
    changes.push_back(std::move(change));
  }
  return changes;
}

std::vector<BrokenNeed> Worklist::broken_needs(const plan::Resolution& resolution) {
  std::vector<BrokenNeed> broken;
  const auto planned = [&](const std::string& name) -> const plan::ResolvedPackage* {
    const auto found = std::ranges::find(resolution.packages, name, &plan::ResolvedPackage::name);
    return found == resolution.packages.end() || found->already_installed ? nullptr : &*found;
  };
  for (const plan::InstalledPackage& neighbour : installed_) {
    if (planned(neighbour.name) != nullptr) continue;
    for (InstalledNeed& need : needs_of(neighbour, target_.markers)) {
      const plan::ResolvedPackage* package = planned(need.package);
      if (package == nullptr) continue;
      const index::Family* family = chooser_.family_of(need.package);
      const std::string backend = planned_backend(*package, chooser_).label;
      if (holds(need, package->version, cuda_of(family, backend))) continue;
      const plan::InstalledPackage* old = chooser_.installed(need.package);
      const bool was_sound =
          old != nullptr &&
          holds(need, old->version, cuda_of(family, chooser_.installed_label(*old)));
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

}  // namespace axle::resolver
