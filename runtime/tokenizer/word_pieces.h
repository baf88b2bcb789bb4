#pragma once
// BERT's tokenizer: text cleaned, split at spaces and punctuation, words cut into the longest
// pieces of the vocabulary.

#include <cstdint>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

namespace axle::runtime {

/// "BertNormalizer" of tokenizer.json.
struct BertCleaning {
  bool clean_text = true;  ///< control characters are left out, all white space is a space
  bool separate_chinese = true;
  bool strip_accents = true;
  bool lower_case = true;
};

[[nodiscard]] std::u32string clean(std::u32string_view text, const BertCleaning& cleaning);

/// "BertPreTokenizer": at white space, which is left out, and around each punctuation character.
[[nodiscard]] std::vector<std::u32string_view> split_at_punctuation(std::u32string_view text);

class WordPieces {
 public:
  std::string continuation = "##";  ///< of a piece that does not begin a word
  std::size_t longest_word = 100;   ///< characters; longer words are unknown
  std::int32_t unknown = 0;

  void add_token(std::string text, std::int32_t id);

  /// Appends the longest pieces from the left, or `unknown` if they do not make the whole word.
  void encode(std::u32string_view word, std::vector<std::int32_t>& to) const;

 private:
  std::unordered_map<std::string, std::int32_t> tokens_;
  std::size_t longest_ = 0;  ///< token, in bytes
};

}  // namespace axle::runtime
