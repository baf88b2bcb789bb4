#pragma once
// Which properties of variants a derivation depends on: of a build that fits all that it needs, of
// one that does not only why.

#include "detect/machine.h"
#include "resolver/classes/watched_candidates.h"
#include "resolver/request/options.h"
#include "resolver/request/target.h"

namespace axle::resolver {

/// Adds to `used` what decided about the variants of `looked` on `target`.
void add_used_properties(const LookedAt& looked, const Target& target, const Options& options,
                         UsedInputs& used);

}  // namespace axle::resolver
