#pragma once
// "Did you mean": the known words nearest to an unknown one.

#include <string>
#include <string_view>
#include <vector>

namespace axle::machines {

/// Up to three of `known`, nearest first by edit distance (for "l40": "l40s" before "m40", which
/// begins differently), ties in the given order; joined by ", ".
[[nodiscard]] std::string nearest_words(std::string_view word,
                                        const std::vector<std::string>& known);

}  // namespace axle::machines
