// What the worklist does with a package for which no version is left: the version that brought one
// side of the conflict is excluded, the latest choice first.

#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "resolver/explain/messages.h"
#include "resolver/solver/worklist.h"

namespace axle::resolver {
namespace {

constexpr std::size_t max_exclusions = 300;

}  // namespace

std::optional<std::string> Worklist::latest_choice(const std::set<std::string>& names) const {
  std::optional<std::string> latest;
  std::size_t serial = 0;
  for (const std::string& name : names) {
    const auto node = nodes_.find(name);
    if (node == nodes_.end() || !node->second.choice) continue;
    if (node->second.choice->package.direct || node->second.serial < serial) continue;
    serial = node->second.serial;
    latest = name;
  }
  return latest;
}

Result<void> Worklist::exclude(const std::string& owner, const std::string& name,
                               const std::string& why) {
  if (++exclusions_ > max_exclusions) return std::unexpected(*first_conflict_);
  Node& node = nodes_[owner];
  node.excluded.emplace(node.choice->release, why);
  node.rechoose = true;
  rules_.release_followers(owner);
  enqueue(name, true);
  enqueue(owner, true);
  return {};
}

Result<void> Worklist::handle(const std::string& name, ChoiceFailure failure) {
  if (failure.excluded != Excluded::none) {
    Node& node = nodes_[name];
    if (const auto rival = latest_choice(node.rivals)) {
      const std::string why = node.excluded.rbegin()->second;
      node.excluded.clear();
      node.rivals.clear();
      node.rechoose = true;
      return exclude(*rival, name, why);
    }
    if (failure.excluded == Excluded::all || failure.error.kind != ErrorKind::unsupported)
      return std::unexpected(std::move(*first_conflict_));
    // The versions that nothing conflicts with do not fit the machine.
    const auto& [version, why] = *node.excluded.rbegin();
    failure.error.message +=
        fmt::format("; {} {} cannot be used: {}", name, wheel::render_version(version), why);
    return std::unexpected(std::move(failure.error));
  }
  std::set<std::string> owners;
  for (const Want* want : failure.culprits) {
    if (!want->by.empty()) owners.insert(want->by);
  }
  const bool unavailable =
      failure.error.kind == ErrorKind::not_found || failure.error.kind == ErrorKind::unsupported;
  if (failure.culprits.empty() && unavailable) {
    // An older version taken because of a conflict may want what cannot be had: it is no way out.
    for (const Want& want : nodes_[name].wants) {
      const auto owner = nodes_.find(want.by);
      if (owner == nodes_.end() || want.by == name) continue;
      if (!owner->second.excluded.empty()) owners.insert(want.by);
    }
  }
  const auto culprit = latest_choice(owners);
  if (!culprit) {
    if (!owners.empty() && first_conflict_) return std::unexpected(*first_conflict_);
    return std::unexpected(std::move(failure.error));
  }
  if (!first_conflict_) first_conflict_ = failure.error;
  owners.erase(*culprit);
  nodes_[*culprit].rivals.merge(owners);
  return exclude(*culprit, name, failure.error.message);
}

}  // namespace axle::resolver
