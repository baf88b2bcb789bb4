// From the settled worklist to the resolution, and what is worth saying about it.

#include <algorithm>
#include <set>
#include <utility>

#include <fmt/format.h>

#include "resolver/worklist.h"

namespace axle::resolver {

Resolution Worklist::outcome() {
  Resolution resolution;
  for (auto& [name, node] : nodes_) {
    if (!node.choice) continue;
    ResolvedPackage& package = node.choice->package;
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
    return std::ranges::find(resolution.packages, name, &ResolvedPackage::name) !=
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

void Worklist::warn_about_installed() {
  if (!options_.dependencies) return;
  for (const InstalledPackage& installed : installed_) {
    const auto own = nodes_.find(installed.name);
    if (own != nodes_.end() && own->second.choice) continue;
    const wheel::MarkerEnvironment markers = variant_markers(
        target_.markers, installed.family.empty() ? installed.variant.value_or("") : "",
        installed.variant_properties);
    for (const wheel::Requirement& requirement : installed.dependencies) {
      const auto node = nodes_.find(wheel::normalize_name(requirement.name));
      if (node == nodes_.end() || !node->second.choice) continue;
      const ResolvedPackage& package = node->second.choice->package;
      if (package.already_installed || requirement.specifiers.contains(package.version)) continue;
      if (requirement.marker && !requirement.marker->evaluate(markers)) continue;
      report_.warn(fmt::format("{} {}, which is installed, wants {}; it gets {} {}", installed.name,
                               wheel::render_version(installed.version),
                               wheel::render_requirement(requirement), package.name,
                               wheel::render_version(package.version)),
                   fmt::format("upgrade {} in the same command", installed.name));
    }
  }
}

}  // namespace axle::resolver
