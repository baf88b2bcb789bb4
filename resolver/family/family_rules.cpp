#include "resolver/family/family_rules.h"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

namespace axle::resolver {
namespace {

/// The user says which versions of the package may come.
bool is_version_requested(const std::vector<Want>& wants) {
  return std::ranges::any_of(wants, [](const Want& want) {
    return want.by.empty() && !want.requirement.specifiers.specifiers.empty();
  });
}

/// 2.12.0 is past 2.11, 2.11.3 is not.
bool is_past(const wheel::Version& version, const wheel::Version& last) {
  for (std::size_t i = 0; i < last.release.size() && i < version.release.size(); ++i) {
    if (version.release[i] != last.release[i]) return version.release[i] > last.release[i];
  }
  return false;
}

/// The local version where it is a label of the family.
std::string known_local(const index::Family& family, const wheel::Version& version) {
  std::string local = index::local_label(version);
  return family.label(local) != nullptr ? local : std::string();
}

}  // namespace

FamilyRules::Lead FamilyRules::lead_of(const index::Family& family, const std::string& name) {
  const std::string& first = family.anchor();
  if (name == first) return {};
  const plan::InstalledPackage* installed = families_.installed(first);
  const auto node = nodes().find(first);
  if (node != nodes().end() && node->second.choice) {
    const plan::ResolvedPackage& package = node->second.choice->package;
    if (package.already_installed) return {families_.installed_label(*installed), true, nullptr};
    if (package.variant) return {*package.variant, false, nullptr};
    // A plain wheel is not a build of the family, but its version or its index says the label.
    return {package.direct ? known_local(family, package.version)
                           : families_.plain_label(family, first, package.version),
            false, nullptr};
  }
  if (installed == nullptr) return {};
  return {families_.installed_label(*installed), true, installed};
}

bool FamilyRules::waits(const std::string& name) {
  const index::Family* family = families_.of(name);
  if (family == nullptr || name == family->anchor()) return false;
  // Only before either is chosen: a member that a conflict sends back goes before the first one.
  const auto first = nodes().find(family->anchor());
  const bool open =
      first != nodes().end() && first->second.queued && !first->second.choice &&
      !nodes()[name].choice &&
      std::ranges::any_of(first->second.wants, [](const Want& want) { return !want.constraint; });
  if (!open) return false;
  solution_.enqueue(name, true);
  solution_.enqueue(family->anchor(), true);
  return true;
}

bool FamilyRules::ask_for_kept(const std::string& name, PackageDemand& demand) {
  const auto kept = kept_.find(name);
  if (kept == kept_.end()) return false;
  demand.rule = LabelRule::kept;
  demand.label = kept->second.label;
  std::vector<Want>& wants = nodes()[name].installed_wants;
  wants.clear();
  if (kept->second.version) {
    wheel::Requirement requirement;
    requirement.name = name;
    if (auto only = wheel::parse_specifiers("==" + wheel::render_version(*kept->second.version))) {
      requirement.specifiers = std::move(*only);
      wants.push_back({std::move(requirement), {}, {}, true});
    }
  }
  for (const Want& want : wants) demand.wants.push_back(&want);
  return true;
}

void FamilyRules::ask(const std::string& name, PackageDemand& demand) {
  if (ask_for_kept(name, demand)) return;
  const index::Family* family = families_.of(name);
  if (family == nullptr) return;
  Node& node = nodes()[name];
  if (name == family->anchor()) {
    demand.label = label_of_members(*family);
    if (!demand.label.empty()) {
      demand.rule = LabelRule::follow;
    } else if (const auto shared = shared_.find(family);
               shared != shared_.end() && !node.excluded.contains(shared->second.release)) {
      demand.label = shared->second.label;
      if (!demand.label.empty()) demand.rule = LabelRule::shared;
    }
    return;
  }
  const Lead lead = lead_of(*family, name);
  demand.label = lead.label;
  demand.lead_stays = lead.stays;
  if (!lead.label.empty()) demand.rule = LabelRule::follow;
  node.installed_wants.clear();
  // A conflict sent it back: the installed first member may have to go as well.
  if (lead.installed == nullptr || is_version_requested(node.wants) || !node.excluded.empty())
    return;
  const wheel::Version version = lead.installed->version.public_version();
  for (wheel::Requirement& requirement : families_.goes_with(family->anchor(), version)) {
    if (requirement.name != name) continue;
    node.installed_wants.push_back(
        {std::move(requirement), family->anchor(), wheel::render_version(version), true});
  }
  for (const Want& want : node.installed_wants) demand.wants.push_back(&want);
}

std::string FamilyRules::label_of_members(const index::Family& family) {
  for (const std::string& member : family.members) {
    if (member == family.anchor()) continue;
    if (const auto kept = kept_.find(member); kept != kept_.end()) return kept->second.label;
    const auto node = nodes().find(member);
    if (node == nodes().end()) continue;
    const std::vector<const Want*> wants = wants_of_user(node->second.wants);
    if (wants.empty()) continue;
    std::string label = families_.given_label(family, member, wants);
    if (!label.empty()) return label;
  }
  return {};
}

void FamilyRules::switch_installed(const std::string& name) {
  const index::Family* family = families_.of(name);
  if (family == nullptr || name == family->anchor()) return;
  const auto forced = options_.forced_labels.find(family->name);
  const plan::InstalledPackage* first = families_.installed(family->anchor());
  if (forced == options_.forced_labels.end() || first == nullptr) return;
  if (families_.installed_label(*first) == forced->second) return;
  wheel::Requirement requirement;
  requirement.name = family->anchor();
  nodes()[family->anchor()].wants.push_back({requirement, {}, {}, false});
  solution_.enqueue(family->anchor());
}

void FamilyRules::release_followers(const std::string& name) {
  const index::Family* family = families_.of(name);
  if (family == nullptr || name != family->anchor()) return;
  for (const std::string& member : family->members) {
    const auto node = nodes().find(member);
    if (member == name || node == nodes().end() || !node->second.choice) continue;
    solution_.drop(member);
    solution_.enqueue(member);
  }
}

bool FamilyRules::brings_along(const PackageChoice& lead, const std::string& member) const {
  return options_.dependencies && !lead.package.already_installed &&
         families_.installed(member) != nullptr;
}

bool FamilyRules::recheck() {
  bool changed = false;
  for (auto& [name, node] : nodes()) {
    if (!node.choice || kept_.contains(name)) continue;
    const index::Family* family = families_.of(name);
    if (family == nullptr) continue;
    const Lead lead = lead_of(*family, name);
    std::string& followed = node.choice->followed_label;
    if (lead.label.empty() || followed == lead.label) continue;
    if (node.choice->package.variant == lead.label) {
      followed = lead.label;
      continue;
    }
    node.rechoose = true;
    solution_.enqueue(name);
    changed = true;
  }
  return changed;
}

void FamilyRules::remark() {
  for (auto& [name, node] : nodes()) {
    if (!node.choice || node.choice->package.already_installed) continue;
    const index::Family* family = families_.of(name);
    if (family == nullptr) continue;
    const PackageChoice& choice = *node.choice;
    if (name == family->anchor()) {
      const auto shared = shared_.find(family);
      if (shared != shared_.end() && choice.package.variant == shared->second.label)
        report_.note(shared->second.remark);
      const plan::InstalledPackage* installed = families_.installed(name);
      if (installed == nullptr || std::ranges::any_of(node.wants, &Want::is_request)) continue;
      if (!families_.installed_label(*installed).empty()) continue;
      report_.warn(fmt::format(
          "{} {}, which is installed, is replaced by {} {}: what it was built for is unknown", name,
          wheel::render_version(installed->version), name,
          wheel::render_version(choice.package.version)));
      continue;
    }
    const std::string title = fmt::format("{} {}", name, wheel::render_version(choice.release));
    const std::string label = choice.package.variant.value_or("");
    const bool given = !families_.given_label(*family, name, wants_of_user(node.wants)).empty();
    if (!given && !choice.followed_label.empty() && label != choice.followed_label) {
      report_.note(fmt::format("{} has no build {}, unlike {}: {} is chosen", title,
                               choice.followed_label, family->anchor(),
                               label.empty() ? "its plain wheel" : label));
    }
    const auto first = nodes().find(family->anchor());
    const auto ended = family->ended.find(name);
    if (ended == family->ended.end() || first == nodes().end() || !first->second.choice) continue;
    const auto last = wheel::parse_version(ended->second);
    const wheel::Version& lead = first->second.choice->release;
    if (last && is_past(lead, *last)) {
      report_.note(
          fmt::format("{} is the last release of {}, made for {} {}: it is installed with {} {}",
                      wheel::render_version(choice.release), name, family->anchor(), ended->second,
                      family->anchor(), wheel::render_version(lead)));
    }
  }
}

std::vector<BackendChange> FamilyRules::backend_changes(const plan::Resolution& resolution) {
  std::vector<BackendChange> changes;
  for (const plan::ResolvedPackage& package : resolution.packages) {
    const plan::InstalledPackage* installed = families_.installed(package.name);
    if (package.already_installed || installed == nullptr) continue;
    const index::Family* family = families_.of(package.name);
    if (family != nullptr && options_.open_families.contains(family->name)) continue;
    const Backend from = installed_backend(*installed, families_);
    const Backend to = planned_backend(package, families_);
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
      const Node& node = nodes().find(package.name)->second;
      const bool newer = installed->version > package.version &&
                         std::ranges::all_of(binding_wants(package.name, node.wants), allows);
      change.kept.version = newer ? installed->version.public_version() : release;
    }
    changes.push_back(std::move(change));
  }
  return changes;
}

}  // namespace axle::resolver
