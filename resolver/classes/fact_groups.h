#pragma once
// Facts in sets, so that what a derivation used is looked at set by set.

#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "resolver/classes/watched_candidates.h"
#include "resolver/predicate/machine_facts.h"
#include "wheel/variant/variant_metadata.h"

namespace axle::resolver {

/// A set of facts that go together: of several sets no value of one limits those of another.
using FactGroup = std::vector<std::string>;

/// They decide about tags and markers, and go together.
inline constexpr std::string_view platform_facts[] = {"arch", "kernel", "libc", "macos", "system"};
[[nodiscard]] bool is_platform_fact(std::string_view fact);

/// facts_behind; of a namespace that a plugin was asked about the property itself.
[[nodiscard]] std::vector<std::string> facts_behind_used(const wheel::Property& property,
                                                         const UsedInputs& used);

/// `facts` in sets between which no input of `all` and no fact itself makes a link.
[[nodiscard]] std::vector<FactGroup> grouped(const std::set<std::string, std::less<>>& facts,
                                             const std::vector<const UsedInputs*>& all);

}  // namespace axle::resolver
