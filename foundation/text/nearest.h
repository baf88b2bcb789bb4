#pragma once
// "Did you mean": the known words nearest to an unknown one.

#include <string>
#include <string_view>
#include <vector>

namespace axle::text {

/// Up to three of `known`, nearest first (for "l40": "l40s" before "m40", which begins
/// differently), ties in the given order; joined by ", ". Near is what few edits make equal:
/// letters added, left out, replaced, or two neighbours swapped; capitals, blanks and the
/// separators "-", "_" and "." do not count ("RTX 4090" is rtx4090).
[[nodiscard]] std::string nearest_words(std::string_view word,
                                        const std::vector<std::string>& known);

/// Those of `known` that `word` is probably a slip for, nearest first, at most three: one edit in
/// three letters. If some differ in capitals and separators only, just those. Empty: none.
[[nodiscard]] std::vector<std::string> likely_meant(std::string_view word,
                                                    const std::vector<std::string>& known);

/// "a, b or c".
[[nodiscard]] std::string joined_by_or(const std::vector<std::string>& words);

/// "did you mean a, b or c?"; empty: nothing is likely.
[[nodiscard]] std::string did_you_mean(std::string_view word,
                                       const std::vector<std::string>& known);

/// A hint: `otherwise`, after "did you mean …? " where something is likely.
[[nodiscard]] std::string suggest(std::string_view word, const std::vector<std::string>& known,
                                  std::string_view otherwise);

}  // namespace axle::text
