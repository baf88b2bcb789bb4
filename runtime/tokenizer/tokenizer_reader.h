#pragma once
// What both readers of tokenizers (tokenizer.json and GGUF) build on.

#include <string>

#include "runtime/tokenizer/tokenizer.h"

namespace axle::runtime {

class TokenizerReader {
 public:
  explicit TokenizerReader(std::string where) : where_(std::move(where)) {}

 protected:
  static constexpr std::size_t most_tokens = std::size_t{1} << 23U;

  /// `text` as it is found in a text and given out. AXLE_MALFORMED for an id that is taken by
  /// another text, or out of all proportion.
  [[nodiscard]] Result<void> add_text(std::int64_t id, std::string text, bool special);

  ByteLevelModel& use_bytes() { return tokenizer_.model_.emplace<ByteLevelModel>(); }
  WordPieceModel& use_words() { return tokenizer_.model_.emplace<WordPieceModel>(); }
  AddedTokens& added() { return tokenizer_.added_; }
  std::vector<std::int32_t>& prefix() { return tokenizer_.prefix_; }
  std::vector<std::int32_t>& suffix() { return tokenizer_.suffix_; }

  std::string where_;
  Tokenizer tokenizer_;
};

}  // namespace axle::runtime
