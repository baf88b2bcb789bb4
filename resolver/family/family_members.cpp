// Members of one family in one solution (torch, torchvision, torchaudio): the first member leads,
// the others follow its version and its label. shared_label.cpp has the label that all have.

#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "resolver/solver/worklist.h"

namespace axle::resolver {
namespace {

bool is_requested(const std::vector<Want>& wants) {
  return std::ranges::any_of(wants,
                             [](const Want& want) { return want.by.empty() && !want.constraint; });
}

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

Worklist::Lead Worklist::lead_of(const index::Family& family, const std::string& name) {
  const std::string& first = family.anchor();
  if (name == first) return {};
  const plan::InstalledPackage* installed = chooser_.installed(first);
  const auto node = nodes_.find(first);
  if (node != nodes_.end() && node->second.choice) {
    const plan::ResolvedPackage& package = node->second.choice->package;
    if (package.already_installed) return {chooser_.installed_label(*installed), true, nullptr};
    if (package.variant) return {*package.variant, false, nullptr};
    // A plain wheel is not a build of the family, but its version or its index says the label.
    return {package.direct ? known_local(family, package.version)
                           : chooser_.plain_label(family, first, package.version),
            false, nullptr};
  }
  if (installed == nullptr) return {};
  return {chooser_.installed_label(*installed), true, installed};
}

bool Worklist::waits_for_family(const std::string& name) {
  const index::Family* family = chooser_.family_of(name);
  if (family == nullptr || name == family->anchor()) return false;
  // Only before either is chosen: a member that a conflict sends back goes before the first one.
  const auto first = nodes_.find(family->anchor());
  const bool open =
      first != nodes_.end() && first->second.queued && !first->second.choice &&
      !nodes_[name].choice &&
      std::ranges::any_of(first->second.wants, [](const Want& want) { return !want.constraint; });
  if (!open) return false;
  enqueue(name, true);
  enqueue(family->anchor(), true);
  return true;
}

bool Worklist::ask_for_kept(const std::string& name, Question& question) {
  const auto kept = kept_.find(name);
  if (kept == kept_.end()) return false;
  question.rule = LabelRule::kept;
  question.label = kept->second.label;
  std::vector<Want>& wants = nodes_[name].installed_wants;
  wants.clear();
  if (kept->second.version) {
    wheel::Requirement requirement;
    requirement.name = name;
    if (auto only = wheel::parse_specifiers("==" + wheel::render_version(*kept->second.version))) {
      requirement.specifiers = std::move(*only);
      wants.push_back({std::move(requirement), {}, {}, true});
    }
  }
  for (const Want& want : wants) question.wants.push_back(&want);
  return true;
}

void Worklist::ask_within_family(const std::string& name, Question& question) {
  if (ask_for_kept(name, question)) return;
  const index::Family* family = chooser_.family_of(name);
  if (family == nullptr) return;
  Node& node = nodes_[name];
  if (name == family->anchor()) {
    question.label = label_of_members(*family);
    if (!question.label.empty()) {
      question.rule = LabelRule::follow;
    } else if (const auto shared = shared_.find(family);
               shared != shared_.end() && !node.excluded.contains(shared->second.release)) {
      question.label = shared->second.label;
      if (!question.label.empty()) question.rule = LabelRule::shared;
    }
    return;
  }
  const Lead lead = lead_of(*family, name);
  question.label = lead.label;
  question.lead_stays = lead.stays;
  if (!lead.label.empty()) question.rule = LabelRule::follow;
  node.installed_wants.clear();
  // A conflict sent it back: the installed first member may have to go as well.
  if (lead.installed == nullptr || is_version_requested(node.wants) || !node.excluded.empty())
    return;
  const wheel::Version version = lead.installed->version.public_version();
  for (wheel::Requirement& requirement : PackageChooser::goes_with(*family, version)) {
    if (requirement.name != name) continue;
    node.installed_wants.push_back(
        {std::move(requirement), family->anchor(), wheel::render_version(version), true});
  }
  for (const Want& want : node.installed_wants) question.wants.push_back(&want);
}

std::string Worklist::label_of_members(const index::Family& family) {
  for (const std::string& member : family.members) {
    if (member == family.anchor()) continue;
    if (const auto kept = kept_.find(member); kept != kept_.end()) return kept->second.label;
    const auto node = nodes_.find(member);
    if (node == nodes_.end()) continue;
    const std::vector<const Want*> wants = wants_of_user(node->second.wants);
    if (wants.empty()) continue;
    std::string label = chooser_.given_label(family, member, wants);
    if (!label.empty()) return label;
  }
  return {};
}

void Worklist::switch_installed(const index::Family& family) {
  const auto forced = options_.forced_labels.find(family.name);
  const plan::InstalledPackage* first = chooser_.installed(family.anchor());
  if (forced == options_.forced_labels.end() || first == nullptr) return;
  if (chooser_.installed_label(*first) == forced->second) return;
  wheel::Requirement requirement;
  requirement.name = family.anchor();
  nodes_[family.anchor()].wants.push_back({requirement, {}, {}, false});
  enqueue(family.anchor());
}

void Worklist::release_followers(const std::string& name) {
  const index::Family* family = chooser_.family_of(name);
  if (family == nullptr || name != family->anchor()) return;
  for (const std::string& member : family->members) {
    const auto node = nodes_.find(member);
    if (member == name || node == nodes_.end() || !node->second.choice) continue;
    drop(member);
    enqueue(member);
  }
}

bool Worklist::brings_along(const PackageChoice& lead, const std::string& member) const {
  return options_.dependencies && !lead.package.already_installed &&
         chooser_.installed(member) != nullptr;
}

bool Worklist::recheck_families() {
  bool changed = false;
  for (auto& [name, node] : nodes_) {
    if (!node.choice || kept_.contains(name)) continue;
    const index::Family* family = chooser_.family_of(name);
    if (family == nullptr) continue;
    const Lead lead = lead_of(*family, name);
    std::string& followed = node.choice->followed_label;
    if (lead.label.empty() || followed == lead.label) continue;
    if (node.choice->package.variant == lead.label) {
      followed = lead.label;
      continue;
    }
    node.rechoose = true;
    enqueue(name);
    changed = true;
  }
  return changed;
}

void Worklist::remark_on_families() {
  for (auto& [name, node] : nodes_) {
    if (!node.choice || node.choice->package.already_installed) continue;
    const index::Family* family = chooser_.family_of(name);
    if (family == nullptr) continue;
    const PackageChoice& choice = *node.choice;
    if (name == family->anchor()) {
      const auto shared = shared_.find(family);
      if (shared != shared_.end() && choice.package.variant == shared->second.label)
        report_.note(shared->second.remark);
      const plan::InstalledPackage* installed = chooser_.installed(name);
      if (installed == nullptr || is_requested(node.wants)) continue;
      if (!chooser_.installed_label(*installed).empty()) continue;
      report_.warn(
          fmt::format("{} {}, which is installed, is replaced by {} {}: what it was built "
                      "for is not known",
                      name, wheel::render_version(installed->version), name,
                      wheel::render_version(choice.package.version)));
      continue;
    }
    const std::string title = fmt::format("{} {}", name, wheel::render_version(choice.release));
    const std::string label = choice.package.variant.value_or("");
    const bool given = !chooser_.given_label(*family, name, wants_of_user(node.wants)).empty();
    if (!given && !choice.followed_label.empty() && label != choice.followed_label) {
      report_.note(fmt::format("{} has no build {}, which {} has: {} is taken", title,
                               choice.followed_label, family->anchor(),
                               label.empty() ? "its plain wheel" : label));
    }
    const auto first = nodes_.find(family->anchor());
    const auto ended = family->ended.find(name);
    if (ended == family->ended.end() || first == nodes_.end() || !first->second.choice) continue;
    const auto last = wheel::parse_version(ended->second);
    const wheel::Version& lead = first->second.choice->release;
    if (last && is_past(lead, *last)) {
      report_.note(fmt::format("{} is the last release of {}, made for {} {}: it comes with {} {}",
                               wheel::render_version(choice.release), name, family->anchor(),
                               ended->second, family->anchor(), wheel::render_version(lead)));
    }
  }
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
      const bool by_user = std::ranges::any_of(
          node.wants, [](const Want& want) { return want.by.empty() && !want.constraint; });
      if (requested.empty() && by_user) requested = name;
    }
    return fail(ErrorKind::unsupported,
                fmt::format("nothing of this is built for {}, which --require asks for", ns),
                requested.empty()
                    ? std::string()
                    : fmt::format("`variant explain {}` shows the builds there are", requested));
  }
  return {};
}

bool Worklist::is_installed_for(const std::string& name, const std::string& ns) {
  const plan::InstalledPackage& installed = *chooser_.installed(name);
  if (std::ranges::find(installed.variant_properties, ns, &wheel::Property::ns) !=
      installed.variant_properties.end()) {
    return true;
  }
  const index::Family* family = chooser_.family_of(name);
  const index::FamilyLabel* label =
      family == nullptr ? nullptr : family->label(chooser_.installed_label(installed));
  return label != nullptr && label->vendor == ns;
}

}  // namespace axle::resolver
