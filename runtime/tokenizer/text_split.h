#pragma once
// Text into words, before the words are made into tokens: the regular expressions of well-known
// tokenizers, each as a matcher of its own.

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace axle::runtime {

enum class SplitRule : std::uint8_t {
  gpt2,    ///< ByteLevel with "use_regex"; its contractions are in lower case
  llama3,  ///< numbers in threes, contractions in any case
  qwen2,   ///< the same with single digits
  digits,  ///< "Digits" with "individual_digits": each number character by itself
  none
};

/// The rule whose regular expression is `pattern`, or `none`.
[[nodiscard]] SplitRule rule_of_pattern(std::string_view pattern);

/// Splits every piece by one rule; all characters stay, in order.
[[nodiscard]] std::vector<std::u32string_view> split(const std::vector<std::u32string_view>& pieces,
                                                     SplitRule rule);

}  // namespace axle::runtime
