#pragma once
// BERT's tokenizer: text cleaned, split at spaces and punctuation, words cut into the longest
// pieces of the vocabulary.

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "runtime/tokenizer/vocabulary.h"

namespace axle::runtime {

/// "BertNormalizer" of tokenizer.json.
struct BertCleaning {
  bool clean_text = true;  ///< control characters are left out, all white space is a space
  bool separate_chinese = true;
  bool strip_accents = true;
  bool lower_case = true;
};

/// Of valid UTF-8. Hugging Face's tokenizers know the categories of Unicode 8.0 here, whatever
/// their other tables are: marks, punctuation and format characters that came later are kept as
/// they are.
[[nodiscard]] std::string clean(std::string_view text, const BertCleaning& cleaning);

/// "BertPreTokenizer": at white space, which is left out, and around each punctuation character.
[[nodiscard]] std::vector<std::string_view> split_at_punctuation(std::string_view text);

class WordPieces {
 public:
  std::string continuation = "##";  ///< of a piece that does not begin a word
  std::size_t longest_word = 100;   ///< characters; longer words are unknown
  std::int32_t unknown = 0;

  /// Appends the longest pieces from the left, or `unknown` if they do not make the whole word.
  void encode(const Vocabulary& vocabulary, std::string_view word,
              std::vector<std::int32_t>& to) const;
};

}  // namespace axle::runtime
