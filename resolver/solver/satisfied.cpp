// The commonest answer: what is installed is all that is asked for. Then nothing has to be
// searched, and what the search would settle is written down directly.

#include <algorithm>
#include <set>
#include <utility>

#include "index/family/alternatives.h"
#include "resolver/solver/resolution_search.h"

namespace axle::resolver {

SettledPackage* ResolutionSearch::settle_installed(const std::string& name) {
  const std::vector<Want>& of_user = requests_.about(name);
  const plan::InstalledPackage* installed =
      in_.chooser.installed_candidate(name, wants_of_user(of_user));
  if (installed == nullptr || in_.families.of(name) != nullptr ||
      index::alternatives_of(name) != nullptr || !in_.candidates.assigned_url(name).empty() ||
      !installed->abi_needs.empty() || !in_.families.installed_platform(*installed).empty() ||
      in_.families.built_for(name, installed->version, installed->dependencies))
    return nullptr;
  SettledPackage settled;
  for (const Want& want : of_user) {
    const wheel::Requirement& wanted = want.requirement;
    if (!wanted.url.empty() || !wanted.specifiers.contains(installed->version)) return nullptr;
    if (want.constraint) settled.wants.push_back(want);
  }
  settled.choice = in_.chooser.take_installed(*installed);
  return &settled_.insert_or_assign(name, std::move(settled)).first->second;
}

bool ResolutionSearch::is_satisfied() {
  settled_.clear();
  if (!in_.kept.empty() || !in_.unmet.empty()) return false;
  std::vector<Want> open = requests_.requested();
  const auto add_needs = [&](const PackageChoice& choice,
                             std::vector<wheel::Requirement> requirements) {
    const std::string& owner = choice.package.name;
    const std::string version = wheel::render_version(choice.package.version);
    for (wheel::Requirement& requirement : requirements) {
      // What a package says of itself only adds extras.
      if (wheel::normalize_name(requirement.name) == owner) requirement.specifiers = {};
      open.push_back({std::move(requirement), owner, version});
    }
  };
  while (!open.empty()) {
    Want want = std::move(open.back());
    open.pop_back();
    const wheel::Requirement& wanted = want.requirement;
    const std::string name = wheel::normalize_name(wanted.name);
    const auto known = settled_.find(name);
    SettledPackage* const settled =
        known == settled_.end() ? settle_installed(name) : &known->second;
    if (settled == nullptr || !wanted.url.empty() ||
        !wanted.specifiers.contains(settled->choice.package.version))
      return false;
    if (known == settled_.end() && in_.options.dependencies)
      add_needs(settled->choice, requests_.dependencies_of(settled->choice, {}));
    for (const std::string& extra : wanted.extras) {
      if (std::ranges::find(settled->extras, extra) != settled->extras.end()) continue;
      settled->extras.push_back(extra);
      if (in_.options.dependencies)
        add_needs(settled->choice, requests_.dependencies_of_extra(settled->choice, extra));
    }
    settled->wants.push_back(std::move(want));
  }
  for (auto& [name, settled] : settled_) std::ranges::sort(settled.extras);
  tried_ += settled_.size();
  return true;
}

}  // namespace axle::resolver
