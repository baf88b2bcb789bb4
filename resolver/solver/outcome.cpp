// From the settled worklist to the resolution, and what is worth saying about it.

#include <algorithm>
#include <set>
#include <utility>

#include <fmt/format.h>

#include "resolver/solver/worklist.h"

namespace axle::resolver {

namespace {

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
      report_.note(fmt::format("{} {} is chosen, not {}: {}", name, version,
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
    report_.warn(fmt::format("variant {} is requested for {}, which is not part of this resolution",
                             label, name));
  }
  for (const std::string& name : options_.plain_only) {
    if (is_part(name)) continue;
    report_.warn(fmt::format(
        "a plain wheel is requested for {}, which is not part of this resolution", name));
  }
  return resolution;
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
      const std::string backend = planned_backend(*package, families_).label;
      if (holds(need, package->version, families_.cuda_of(need.package, backend))) continue;
      const plan::InstalledPackage* old = families_.installed(need.package);
      const bool was_sound =
          old != nullptr && holds(need, old->version,
                                  families_.cuda_of(need.package, families_.installed_label(*old)));
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

Result<void> Worklist::check_required() {
  for (const std::string& ns : options_.required) {
    const bool used = std::ranges::any_of(nodes_, [&](const auto& entry) {
      if (!entry.second.choice) return false;
      const plan::ResolvedPackage& package = entry.second.choice->package;
      if (package.already_installed) return is_installed_for(entry.first, ns);
      return std::ranges::find(package.variant_properties, ns, &wheel::Property::ns) !=
             package.variant_properties.end();
    });
    if (used) continue;
    std::string requested;
    for (const auto& [name, node] : nodes_) {
      const bool by_user = std::ranges::any_of(node.wants, &Want::is_request);
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

bool Worklist::is_installed_for(const std::string& name, const std::string& ns) {
  const plan::InstalledPackage& installed = *families_.installed(name);
  return std::ranges::find(installed.variant_properties, ns, &wheel::Property::ns) !=
             installed.variant_properties.end() ||
         families_.is_built_for(installed, ns);
}

}  // namespace axle::resolver
