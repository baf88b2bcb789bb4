#pragma once
// Text to tokens and back.

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <variant>
#include <vector>

#include "runtime/result.h"
#include "runtime/tokenizer/added_tokens.h"
#include "runtime/tokenizer/byte_pairs.h"
#include "runtime/tokenizer/text_split.h"
#include "runtime/tokenizer/word_pieces.h"

namespace axle::runtime {

/// What a GGUF file says of its tokenizer ("tokenizer.ggml.…").
struct GgufVocabulary {
  std::string_view model;  ///< "gpt2"
  std::string_view split;  ///< "pre": "smollm", "llama-bpe", …
  std::vector<std::string_view> tokens;
  std::vector<std::int64_t> types;  ///< one a token, or none: 1 normal, 3 control, 4 added, …
  std::vector<std::string_view> merges;
  std::optional<std::int32_t> begin;  ///< a token to put before a text, where it is wanted
  std::optional<std::int32_t> end;
  bool add_begin = false;
  bool add_end = false;
};

/// Byte-level byte pair encoding and what comes before it.
struct ByteLevelModel {
  BytePairs pairs;
  std::vector<SplitRule> rules;
  bool prefix_space = false;
  bool compose = false;  ///< NFC
};

/// BERT's word pieces and what comes before them.
struct WordPieceModel {
  WordPieces pieces;
  BertCleaning cleaning;
};

/// Immutable once opened; may be used from several threads.
class Tokenizer {
 public:
  /// Hugging Face's tokenizer.json; `where` names it in errors. AXLE_UNSUPPORTED for a component
  /// that is not known, by its place and name.
  [[nodiscard]] static Result<Tokenizer> parse_json(std::string_view text,
                                                    const std::string& where);
  [[nodiscard]] static Result<Tokenizer> from_gguf(const GgufVocabulary& vocabulary,
                                                   const std::string& where);

  /// A part of a text, and whether control tokens written in it become their ids.
  struct Piece {
    std::string_view text;
    bool parse_special = false;
  };

  /// The tokens of the pieces' texts one after the other, as of one text; `add_special`: with what
  /// the model wants around a text ([CLS], <s>, …). Bytes that are not UTF-8 count as U+FFFD.
  [[nodiscard]] std::vector<std::int32_t> encode(std::span<const Piece> pieces,
                                                 bool add_special) const;

  /// The text of tokens; what is not UTF-8 is left as it is. Control tokens are left out unless
  /// `with_special`. Unknown ids give nothing.
  [[nodiscard]] std::string decode(std::span<const std::int32_t> tokens, bool with_special) const;

  /// The id of a token by its text.
  [[nodiscard]] std::optional<std::int32_t> find(std::string_view text) const;
  [[nodiscard]] bool is_special(std::int32_t token) const;
  [[nodiscard]] std::size_t size() const { return texts_.size(); }

 private:
  friend class TokenizerReader;

  void encode_plain(std::u32string_view text, std::vector<std::int32_t>& to) const;
  void encode_between(std::u32string_view text, std::vector<std::int32_t>& to) const;

  std::variant<ByteLevelModel, WordPieceModel> model_;
  AddedTokens added_;
  std::vector<std::string> texts_;  ///< by id, as bytes
  std::vector<bool> special_;       ///< by id
  std::unordered_map<std::string, std::int32_t> ids_;
  std::vector<std::int32_t> prefix_;  ///< around every text
  std::vector<std::int32_t> suffix_;
};

}  // namespace axle::runtime
