#pragma once
// Text into words, before the words are made into tokens: the regular expressions of well-known
// tokenizers, each as a matcher of its own.

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>

namespace axle::runtime {

enum class SplitRule : std::uint8_t {
  gpt2,         ///< ByteLevel with "use_regex"; its contractions are in lower case
  llama3,       ///< numbers in threes, contractions in any case
  qwen2,        ///< the same with single digits
  tekken,       ///< Mistral's: words end where an upper case letter follows a lower case one
  digits,       ///< "Digits" with "individual_digits": each number character by itself
  space_before  ///< no split: a space before each piece that does not begin with one
};

/// Whether `pattern` is the regular expression of a rule; then `rule` is set.
[[nodiscard]] bool find_rule(std::string_view pattern, SplitRule& rule);

/// The regular expression of a rule that has one, else empty.
[[nodiscard]] std::string_view pattern_of(SplitRule rule);

/// Bytes of the word at the beginning of `text`, which is valid UTF-8 and not empty; at least one.
[[nodiscard]] std::size_t first_word(std::string_view text, SplitRule rule);

/// Calls `use` with each word of `text`, split by one rule after the other; nothing gets lost.
template <class Use>
void for_each_word(std::string_view text, std::span<const SplitRule> rules, const Use& use) {
  if (text.empty()) return;
  if (rules.empty()) return use(text);
  if (rules[0] == SplitRule::space_before) {
    if (text[0] == ' ') return for_each_word(text, rules.subspan(1), use);
    return for_each_word(std::string_view(" " + std::string(text)), rules.subspan(1), use);
  }
  while (!text.empty()) {
    const std::size_t bytes = first_word(text, rules[0]);
    for_each_word(text.substr(0, bytes), rules.subspan(1), use);
    text.remove_prefix(bytes);
  }
}

}  // namespace axle::runtime
