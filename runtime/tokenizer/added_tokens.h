#pragma once
// Tokens that are found in a text before it is split into words: control tokens as
// "<|endoftext|>", and words that were added to a vocabulary.

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace axle::runtime {

struct AddedToken {
  std::int32_t id = 0;
  std::u32string text;
  bool special = false;      ///< a control token: found only where the caller says so
  bool normalised = false;   ///< found in the text after it was normalised
  bool single_word = false;  ///< not inside a word
  bool strip_left = false;   ///< takes the white space before it along
  bool strip_right = false;
};

/// A part of a text: a token that was found, or text between them.
struct TextPart {
  std::u32string_view text;
  const AddedToken* token = nullptr;
};

class AddedTokens {
 public:
  void add(AddedToken token);

  /// The parts of `text` in order; of several tokens at one place the longest. Only those whose
  /// `normalised` is as given, and special ones only with `special`.
  [[nodiscard]] std::vector<TextPart> find_in(std::u32string_view text, bool normalised,
                                              bool special) const;

  [[nodiscard]] const std::vector<AddedToken>& tokens() const { return tokens_; }

 private:
  [[nodiscard]] const AddedToken* match(std::u32string_view text, std::size_t at, bool normalised,
                                        bool special) const;

  std::vector<AddedToken> tokens_;  ///< by the first character, then the longest first
};

}  // namespace axle::runtime
