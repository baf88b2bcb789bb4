// A set is one label: of the labels that fit the release of a family's first member, the best that
// all other members in the solution have. The release itself is not held back for a label.

#include <algorithm>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "resolver/family/family_rules.h"

namespace axle::resolver {

bool FamilyRules::is_build_given(const index::Family* family, const std::string& name) {
  const auto says = [&](const std::string& member) {
    if (options_.pinned_variants.contains(member) || options_.plain_only.contains(member))
      return true;
    const auto node = nodes().find(member);
    if (node == nodes().end()) return false;
    const std::vector<const Want*> wants = wants_of_user(node->second.wants);
    return !direct_urls(wants).empty() ||
           (family != nullptr && !families_.given_label(*family, member, wants).empty());
  };
  if (!options_.variants) return true;
  if (family == nullptr) return says(name);
  return std::ranges::any_of(family->members, says);
}

std::vector<std::string> FamilyRules::members_without(const index::Family& family,
                                                      const std::string& label) {
  std::vector<std::string> without;
  for (const std::string& member : family.members) {
    const auto found = nodes().find(member);
    if (member == family.anchor() || found == nodes().end() || !found->second.choice) continue;
    Node& node = found->second;
    if (node.choice->package.variant == label) continue;
    const PackageDemand demand{member,
                               binding_wants(member, node.wants),
                               &node.excluded,
                               [this, member](const std::string& package) {
                                 return solution_.version_of(member, package);
                               },
                               LabelRule::kept,
                               label};
    if (!chooser_.choose(demand)) without.push_back(member);
  }
  return without;
}

bool FamilyRules::share_label(const index::Family& family) {
  Node& node = nodes()[family.anchor()];
  const PackageChoice& lead = *node.choice;
  SharedLabel& shared = shared_[&family];
  std::set<std::string> members;
  for (const std::string& member : family.members) {
    const auto found = nodes().find(member);
    if (member != family.anchor() && found != nodes().end() && found->second.choice)
      members.insert(member);
  }
  const bool same_release = !shared.members.empty() && shared.release == lead.release;
  if (members.empty() || (same_release && std::ranges::includes(shared.members, members)))
    return false;
  // Members only join, so that this ends whatever the builds of one label bring along.
  if (same_release) members.merge(shared.members);
  const std::string best =
      same_release && !shared.best.empty() ? shared.best : *lead.package.variant;
  shared = {lead.release, std::move(members), best, {}, {}};
  const std::vector<plan::Fit>& fits = lead.package.decision.ranked;
  const std::vector<std::string> lack_best = members_without(family, best);
  auto fit = std::ranges::find(fits, best, &plan::Fit::label);
  for (; !lack_best.empty() && fit != fits.end(); ++fit) {
    if (fit->label == best || !members_without(family, fit->label).empty()) continue;
    PackageDemand demand{family.anchor(),
                         binding_wants(family.anchor(), node.wants),
                         &node.excluded,
                         [this, &family](const std::string& package) {
                           return solution_.version_of(family.anchor(), package);
                         },
                         LabelRule::shared,
                         fit->label};
    const auto choice = chooser_.choose(demand);
    // A fallback, or a build of which not all is known, is no better than unlike labels.
    if (!choice || choice->release != lead.release || choice->pass != lead.pass) continue;
    shared.label = fit->label;
    shared.remark = fmt::format(
        "{} {} is chosen with build {} instead of {}, which {} does not have", family.anchor(),
        wheel::render_version(lead.release), shared.label, best, fmt::join(lack_best, " and "));
    break;
  }
  const std::string& wanted = shared.label.empty() ? best : shared.label;
  if (lead.package.variant == wanted) return false;
  node.rechoose = true;
  solution_.enqueue(family.anchor());
  return true;
}

bool FamilyRules::share_labels() {
  bool changed = false;
  for (auto& [name, node] : nodes()) {
    if (!node.choice || node.choice->package.family.empty()) continue;
    const index::Family* family = families_.of(name);
    if (family == nullptr || name != family->anchor() || !node.choice->followed_label.empty() ||
        kept_.contains(name) || is_build_given(family, name)) {
      continue;
    }
    changed = share_label(*family) || changed;
  }
  return changed;
}

}  // namespace axle::resolver
