#include "resolver/solver/assignments.h"

#include <algorithm>
#include <utility>

namespace axle::resolver {

namespace {

const IntegerSet anything = IntegerSet::all();

}  // namespace

void Assignments::make_room(PackageId package) {
  if (package >= packages_.size()) packages_.resize(std::size_t{package} + 1);
}

const IntegerSet& Assignments::possible(PackageId package) const {
  const auto& steps = packages_[package].steps;
  return steps.empty() ? anything : steps.back().possible;
}

bool Assignments::is_needed(PackageId package) const {
  return !possible(package).contains(not_chosen);
}

Relation Assignments::relation(const Term& term) const {
  const IntegerSet& now = possible(term.package);
  if (term.values.contains(now)) return Relation::holds;
  return term.values.meets(now) ? Relation::open : Relation::fails;
}

Level Assignments::level_of(PackageId package) const {
  const auto& steps = packages_[package].steps;
  return std::ranges::find_if(steps, &Assignment::is_decision)->level;
}

void Assignments::decide(PackageId package, Candidate value) {
  ++level_;
  packages_[package].decided = true;
  add(package, {0, level_, no_incompatibility, IntegerSet::one(value)});
}

void Assignments::derive(PackageId package, const IntegerSet& values, IncompatibilityId cause) {
  add(package, {0, level_, cause, possible(package) & values});
}

void Assignments::add(PackageId package, Assignment assignment) {
  assignment.time = static_cast<std::uint32_t>(order_.size());
  packages_[package].steps.push_back(std::move(assignment));
  order_.push_back(package);
}

const Assignment* Assignments::satisfier(PackageId package, const IntegerSet& values) const {
  if (values.is_all()) return nullptr;
  const auto& steps = packages_[package].steps;
  return &*std::ranges::partition_point(
      steps, [&](const Assignment& step) { return !values.contains(step.possible); });
}

}  // namespace axle::resolver
