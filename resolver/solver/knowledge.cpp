#include "resolver/solver/knowledge.h"

#include <algorithm>
#include <utility>

namespace axle::resolver {

void Knowledge::make_room(PackageId package) {
  if (package >= packages_.size()) packages_.resize(std::size_t{package} + 1);
}

IncompatibilityId Knowledge::keep(Incompatibility incompatibility) {
  const auto id = static_cast<IncompatibilityId>(known_.size());
  for (const Term& term : incompatibility.terms) stored_ += term.values.boundaries().size();
  known_.push_back(std::move(incompatibility));
  states_.push_back({.dead = true});
  return id;
}

IncompatibilityId Knowledge::add(Incompatibility incompatibility) {
  const IncompatibilityId id = keep(std::move(incompatibility));
  states_[id].dead = false;
  for (const Term& term : known_[id].terms) packages_[term.package].named_by.push_back(id);
  return id;
}

void Knowledge::drop(IncompatibilityId id) {
  if (std::exchange(states_[id].dead, true)) return;
  for (const Term& term : known_[id].terms) ++packages_[term.package].dead;
}

void Knowledge::tidy(PackageId package) {
  Package& place = packages_[package];
  // Seldom enough that all the removals together take as long as the additions did.
  if (place.dead <= place.named_by.size() / 2) return;
  std::erase_if(place.named_by, [&](IncompatibilityId id) { return states_[id].dead; });
  place.dead = 0;
}

void Knowledge::set_aside(IncompatibilityId id, Level level) {
  // Without any decision it stays so.
  if (level == 0) return drop(id);
  states_[id].fails = true;
  if (level >= set_aside_.size()) set_aside_.resize(std::size_t{level} + 1);
  set_aside_[level].push_back(id);
}

void Knowledge::look_again(Level level) {
  for (std::size_t above = std::size_t{level} + 1; above < set_aside_.size(); ++above) {
    for (const IncompatibilityId id : set_aside_[above]) states_[id].fails = false;
    set_aside_[above].clear();
  }
}

void Knowledge::rule_out(PackageId package, Incompatibility incompatibility) {
  const IncompatibilityId before = packages_[package].ruled_out;
  if (before == no_incompatibility) {
    packages_[package].ruled_out = add(std::move(incompatibility));
    return;
  }
  const IncompatibilityId id = keep(std::move(incompatibility));
  drop(before);
  packages_[package].ruled_out = add(resolvent(known_[before], before, known_[id], id, package));
}

IntegerSet Knowledge::widened(PackageId package, const IntegerSet& values) const {
  const IncompatibilityId ruled_out = packages_[package].ruled_out;
  if (ruled_out == no_incompatibility) return values;
  return (values | known_[ruled_out].values_of(package)).pieces_that_meet(values);
}

void Knowledge::add_need(PackageId package, const IntegerSet& alike, const Need& need) {
  Incompatibility incompatibility;
  incompatibility.cause = Cause::need;
  incompatibility.needed = need.package;
  incompatibility.reason = need.reason;
  if (need.package == package || need.values.empty()) {
    // What needs another candidate of its own package, or what is not there, cannot be taken.
    IntegerSet wrong = need.values.empty() ? alike : alike & need.values.complement();
    if (wrong.empty()) return;
    incompatibility.terms.push_back({package, std::move(wrong)});
    rule_out(package, std::move(incompatibility));
    return;
  }
  const auto [known, is_new] = needs_.try_emplace(
      std::tuple(package, need.package, need.reason, need.values.boundaries()), KnownNeed());
  IntegerSet dependents = alike;
  if (!is_new) {
    const IntegerSet before = known_[known->second.exact].values_of(package);
    if (before.contains(alike)) return;
    dependents = before | alike;
    drop(known->second.looked_at);
  }
  incompatibility.terms.push_back({package, dependents});
  incompatibility.terms.push_back({need.package, need.values.complement()});
  std::ranges::sort(incompatibility.terms, {}, &Term::package);
  IntegerSet wide = widened(package, dependents);
  if (wide == dependents) {
    const IncompatibilityId id = add(std::move(incompatibility));
    known->second = {id, id};
    return;
  }
  Incompatibility wider = incompatibility;
  std::ranges::find(wider.terms, package, &Term::package)->values = std::move(wide);
  wider.cause = Cause::derived;
  wider.left = keep(std::move(incompatibility));
  wider.right = packages_[package].ruled_out;
  known->second.exact = wider.left;
  known->second.looked_at = add(std::move(wider));
}

}  // namespace axle::resolver
