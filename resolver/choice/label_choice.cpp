#include "resolver/choice/label_choice.h"

#include <algorithm>

#include <fmt/format.h>

namespace axle::resolver {
namespace {

bool uses_one_of(const wheel::VariantProperties& properties,
                 const std::set<std::string, std::less<>>& namespaces) {
  return std::ranges::any_of(properties, [&](const wheel::Property& property) {
    return namespaces.contains(property.ns);
  });
}

/// The label that `policy` names, taken whether the machine can run it or not.
LabelChoice take_anyway(const ReleaseMetadata& metadata, const WheelPolicy& policy,
                        const plan::Decision& decision) {
  LabelChoice choice{policy.label, {}, {}};
  if (policy.rule == LabelRule::follow) {
    choice.because = "the other members of its family have this label";
    return choice;
  }
  if (policy.rule == LabelRule::kept) {
    choice.because = "the installed build has this label";
  } else {
    choice.because = fmt::format("{} was requested", policy.label);
  }
  const auto verdict = std::ranges::find(decision.rejected, policy.label, &plan::Verdict::label);
  if (verdict != decision.rejected.end()) {
    choice.remark = fmt::format(
        "{} is chosen because it is {}, although this machine cannot "
        "run it: {}",
        policy.label, policy.rule == LabelRule::kept ? "installed" : "requested",
        verdict->facts.empty() ? verdict->reason : render_facts(verdict->facts));
  } else if (const auto what = metadata.unknown.find(policy.label);
             what != metadata.unknown.end()) {
    choice.remark = what->second;
  }
  return choice;
}

}  // namespace

const CandidateWheel* best_with_label(const LabelledWheels& best_first, std::string_view label) {
  const auto found = std::ranges::find_if(
      best_first, [&](const CandidateWheel* wheel) { return wheel->label == label; });
  return found == best_first.end() ? nullptr : *found;
}

bool has_builds_for(const wheel::VariantMetadata& document,
                    const std::set<std::string, std::less<>>* namespaces) {
  return namespaces != nullptr && !namespaces->empty() &&
         std::ranges::any_of(document.variants, [&](const auto& variant) {
           return uses_one_of(variant.second, *namespaces);
         });
}

bool is_built_for(const wheel::VariantMetadata& document, const std::string& label,
                  const std::set<std::string, std::less<>>& namespaces) {
  return uses_one_of(document.variants.at(label), namespaces);
}

LabelChoice choose_label(const ReleaseMetadata& metadata, const LabelledWheels& wheels,
                         const WheelPolicy& policy, const plan::Decision& decision) {
  const bool anyway = policy.rule == LabelRule::forced || policy.rule == LabelRule::kept ||
                      policy.rule == LabelRule::follow;
  if (anyway && best_with_label(wheels, policy.label) != nullptr)
    return take_anyway(metadata, policy, decision);
  if (policy.rule == LabelRule::forced || policy.rule == LabelRule::kept) return {};
  const bool pinned = policy.rule == LabelRule::pinned;
  const bool named = pinned || policy.rule == LabelRule::shared;
  const bool required = policy.required_here || has_builds_for(*metadata.document, policy.required);
  for (const plan::Fit& fit : decision.ranked) {
    if (named && fit.label != policy.label) continue;
    const auto what = metadata.unknown.find(fit.label);
    const bool unknown = what != metadata.unknown.end();
    if (!pinned && ((unknown && !policy.unknown) ||
                    (metadata.fallback.contains(fit.label) && !policy.fallback))) {
      continue;
    }
    if (required && !is_built_for(*metadata.document, fit.label, *policy.required)) continue;
    return {fit.label, {}, unknown ? what->second : std::string()};
  }
  // A label that the family has never heard of has no needs that could speak against it.
  const auto what = metadata.unknown.find(policy.label);
  if (pinned && what != metadata.unknown.end() &&
      !metadata.document->variants.contains(policy.label))
    return {policy.label, fmt::format("{} was requested", policy.label), what->second};
  return {};
}

void note_unused(const ReleaseMetadata& metadata, const LabelledWheels& wheels,
                 plan::Decision& decision) {
  for (const plan::Fit& fit : decision.ranked) {
    const std::string& file = best_with_label(wheels, fit.label)->file->filename;
    const auto what = metadata.unknown.find(fit.label);
    if (what != metadata.unknown.end()) {
      decision.skipped.push_back({file, plan::SkipCode::unknown_needs, what->second});
    } else if (metadata.fallback.contains(fit.label)) {
      decision.skipped.push_back(
          {file, plan::SkipCode::fallback, "it is only used if nothing else fits"});
    }
  }
}

}  // namespace axle::resolver
