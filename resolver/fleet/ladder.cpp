#include "resolver/fleet/ladder.h"

#include <algorithm>

#include "index/family/family_variants.h"

namespace axle::resolver {

namespace {

using Packages = std::vector<const plan::ResolvedPackage*>;

/// Whose GPUs it is for, else the namespace of the most important property that it was ranked by;
/// empty: it needs nothing. The order of a family's labels is no property of a machine.
std::string purpose_of(const plan::Fit& fit) {
  for (const plan::DecidingProperty& deciding : fit.properties) {
    if (deciding.property.ns == "axle" && deciding.property.feature == "gpu")
      return deciding.property.value;
  }
  for (const plan::DecidingProperty& deciding : fit.properties) {
    if (deciding.property.ns != index::order_ns) return deciding.property.ns;
  }
  return {};
}

bool fits_for_all(const std::string& label, const Packages& packages) {
  return std::ranges::all_of(packages, [&](const plan::ResolvedPackage* package) {
    return std::ranges::find(package->decision.ranked, label, &plan::Fit::label) !=
           package->decision.ranked.end();
  });
}

Ladder ladder_of(const Packages& packages) {
  const plan::ResolvedPackage& first = *packages.front();
  const std::vector<plan::Fit>& ranked = first.decision.ranked;
  Ladder ladder;
  // What ranks before it was not taken either, because of other requirements.
  const auto best = std::ranges::find(ranked, first.variant.value_or(""), &plan::Fit::label);
  for (auto fit = best; fit != ranked.end(); ++fit) {
    if (!fits_for_all(fit->label, packages)) {
      ladder.partial.push_back(fit->label);
      continue;
    }
    const bool alike = purpose_of(*fit) == purpose_of(*best);
    (alike ? ladder.alike : ladder.lesser).push_back(fit->label);
  }
  const bool may_have_plain = first.family.empty() && !ladder.alike.empty();
  if (may_have_plain) ladder.lesser.emplace_back();
  return ladder;
}

}  // namespace

std::map<std::string, Ladder, std::less<>> ladders_of(const plan::Resolution& resolution) {
  std::map<std::string, Packages, std::less<>> named;
  for (const plan::ResolvedPackage& package : resolution.packages) {
    if (package.variant && !package.decision.ranked.empty())
      named[package.family.empty() ? package.name : package.family].push_back(&package);
  }
  std::map<std::string, Ladder, std::less<>> ladders;
  for (const auto& [name, packages] : named) {
    Ladder ladder = ladder_of(packages);
    if (!ladder.alike.empty()) ladders.emplace(name, std::move(ladder));
  }
  return ladders;
}

std::vector<std::string> lesser_in(const std::map<std::string, Ladder, std::less<>>& ladders,
                                   const plan::Resolution& other) {
  std::vector<std::string> names;
  for (const auto& [name, ladder] : ladders) {
    const bool lesser = std::ranges::any_of(other.packages, [&](const auto& package) {
      return (package.family.empty() ? package.name : package.family) == name &&
             std::ranges::find(ladder.lesser, package.variant.value_or("")) != ladder.lesser.end();
    });
    if (lesser) names.push_back(name);
  }
  return names;
}

}  // namespace axle::resolver
