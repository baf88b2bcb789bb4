#pragma once
// A conflict as data (plan/conflict.h), of the story and of the proof that it is from.

#include "plan/conflict.h"
#include "resolver/choice/package_choice.h"
#include "resolver/conflict/conflict_story.h"

namespace axle::resolver {

/// Every statement, none of which is `told` yet but the requests that say no more than a name. What
/// is unusable is looked at once more, for the facts.
[[nodiscard]] plan::Conflict derivation_of(RequirementProblem& problem, PackageChooser& chooser,
                                           const Story& story, const ConflictCore& core);

}  // namespace axle::resolver
