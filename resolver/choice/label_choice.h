#pragma once
// Of the variants of one release that were ranked: which label is taken under a policy.

#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "resolver/choice/release_choice.h"

namespace axle::resolver {

/// Wheels with a label whose tags fit, best first.
using LabelledWheels = std::vector<const CandidateWheel*>;

/// A label, and what is to be said of it where the ranking did not decide.
struct LabelChoice {
  std::string label;  ///< empty: none
  std::string because;
  std::string remark;
};

/// nullptr: none has it.
[[nodiscard]] const CandidateWheel* best_with_label(const LabelledWheels& best_first,
                                                    std::string_view label);

/// Some variant of `document` is for one of `namespaces` (nullptr: none are given).
[[nodiscard]] bool has_builds_for(const wheel::VariantMetadata& document,
                                  const std::set<std::string, std::less<>>* namespaces);

/// The variant `label` of `document` is for one of `namespaces`.
[[nodiscard]] bool is_built_for(const wheel::VariantMetadata& document, const std::string& label,
                                const std::set<std::string, std::less<>>& namespaces);

/// The best label that `policy` allows. `decision` has the ranking.
[[nodiscard]] LabelChoice choose_label(const ReleaseMetadata& metadata,
                                       const LabelledWheels& wheels, const WheelPolicy& policy,
                                       const plan::Decision& decision);

/// Adds to `decision` why builds that would fit do not count.
void note_unused(const ReleaseMetadata& metadata, const LabelledWheels& wheels,
                 plan::Decision& decision);

}  // namespace axle::resolver
