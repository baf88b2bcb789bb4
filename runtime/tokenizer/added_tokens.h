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
  std::string text;
  bool special = false;      ///< a control token: found only where the caller says so
  bool single_word = false;  ///< not inside a word
  bool strip_left = false;   ///< takes the white space before it along
  bool strip_right = false;
};

/// A part of a text: a token that was found, or text between them.
struct TextPart {
  std::string_view text;
  const AddedToken* token = nullptr;
};

class AddedTokens {
 public:
  /// Of two with the same text that of the lower id counts.
  void set(std::vector<AddedToken> tokens);

  /// The parts of `text`, valid UTF-8, in order. Of several tokens at one place the longest is
  /// found; where it is special, and `special` is not given, it is text like other text.
  [[nodiscard]] std::vector<TextPart> find_in(std::string_view text, bool special) const;

 private:
  [[nodiscard]] const AddedToken* longest_at(std::string_view text) const;

  std::vector<AddedToken> tokens_;  ///< by text
  bool begins_[256] = {};           ///< the first bytes of all
};

}  // namespace axle::runtime
