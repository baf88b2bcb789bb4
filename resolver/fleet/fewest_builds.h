#pragma once
// Fewer builds for a fleet than the best for each machine.

#include <vector>

#include "plan/resolution.h"
#include "resolver/fleet/other_choice.h"

namespace axle::resolver {

/// What has to be withheld from all machines so that the fewest builds serve them all (--minimize
/// builds); of several such choices the one that ranks best for the machines together. No machine
/// gets an older release for it, nor a build for less than its best one is for: who has a build for
/// GPUs does not share one for none. `best`: what each machine gets otherwise.
[[nodiscard]] WithheldBuilds fewest_builds(const std::vector<plan::Resolution>& best,
                                           const SolveWithout& solve);

}  // namespace axle::resolver
