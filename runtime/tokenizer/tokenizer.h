#pragma once
// Text to tokens and back.

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "runtime/result.h"
#include "runtime/tokenizer/added_tokens.h"
#include "runtime/tokenizer/byte_pairs.h"
#include "runtime/tokenizer/gguf_vocabulary.h"
#include "runtime/tokenizer/text_split.h"
#include "runtime/tokenizer/vocabulary.h"
#include "runtime/tokenizer/word_pieces.h"

namespace axle::runtime {

inline constexpr std::string_view visible_space = "\xe2\x96\x81";  ///< U+2581

/// SentencePiece's way with spaces: they become a visible character, which is also put before a
/// text.
struct VisibleSpaces {
  enum class Before : std::uint8_t {
    nothing,
    first,  ///< what begins the text, if it does not begin with one
    each,   ///< each text between two tokens, if it does not begin with one
    each_always
  };
  Before before = Before::nothing;
  bool split = false;        ///< words begin at each
  bool strip_first = false;  ///< the space before a text is no part of what is given out
};

/// Byte pair encoding and what comes before it.
struct BytePairModel {
  BytePairs pairs;
  bool compose = false;  ///< NFC
  std::vector<SplitRule> rules;
  std::optional<VisibleSpaces> spaces;
};

/// BERT's word pieces and what comes before them.
struct WordPieceModel {
  WordPieces pieces;
  BertCleaning cleaning;
  bool clean_up = true;  ///< no space is given out before "." and the like
};

/// How two texts are read together: a piece for each of them and for each token around them.
struct PairPiece {
  enum class Kind : std::uint8_t { token, first_text, second_text } kind = Kind::token;
  std::int32_t token = 0;
  bool second_segment = false;  ///< so are all pieces behind it
};

/// Two texts as tokens.
struct TokenPair {
  std::vector<std::int32_t> tokens;
  std::size_t second = 0;  ///< where the second segment begins; `tokens.size()`: nowhere
};

/// What a tokenizer is made of.
struct TokenizerParts {
  std::variant<BytePairModel, WordPieceModel> model;
  Vocabulary vocabulary;                     ///< the texts of the model's tokens, as bytes
  std::vector<AddedToken> added;             ///< found in the text as it is written
  std::vector<AddedToken> added_normalised;  ///< found in it after it was normalised
  std::vector<std::int32_t> prefix;          ///< around every text
  std::vector<std::int32_t> suffix;
  std::vector<PairPiece> pair;  ///< empty: none, or one that is not known
  std::optional<std::int32_t> unknown;
};

/// Immutable once opened; may be used from several threads.
class Tokenizer {
 public:
  /// Hugging Face's tokenizer.json; `where` names it in errors. AXLE_UNSUPPORTED for a component
  /// that is not known, by its place and name. "truncation" and "padding" are the caller's.
  [[nodiscard]] static Result<Tokenizer> parse_json(std::string_view text,
                                                    const std::string& where);
  [[nodiscard]] static Result<Tokenizer> from_gguf(const GgufVocabulary& vocabulary,
                                                   const std::string& where);

  explicit Tokenizer(TokenizerParts parts);

  /// A part of a text, and whether control tokens written in it become their ids.
  struct Piece {
    std::string_view text;
    bool parse_special = false;
  };

  static constexpr std::size_t most_bytes = std::size_t{64} << 20U;  ///< of a text

  /// The tokens of the pieces' texts one after the other, as of one text; `add_special`: with what
  /// the model wants around a text ([CLS], <s>, …). Bytes that are not UTF-8 count as U+FFFD.
  /// AXLE_BAD_ARGUMENT for more than `most_bytes`.
  [[nodiscard]] Result<std::vector<std::int32_t>> encode(std::span<const Piece> pieces,
                                                         bool add_special) const;

  /// Two texts, each as encode() has it alone, with what the model wants around a pair.
  /// AXLE_UNSUPPORTED if it says nothing of pairs.
  [[nodiscard]] Result<TokenPair> encode_pair(const Piece& first, const Piece& second) const;

  /// The text of tokens, always UTF-8: bytes that are not become U+FFFD. Control tokens are left
  /// out unless `with_special`. Unknown ids give nothing.
  [[nodiscard]] std::string decode(std::span<const std::int32_t> tokens, bool with_special) const;

  /// The text of one token as it stands behind others, or (`is_first`) at the beginning: bytes that
  /// need not be whole characters.
  [[nodiscard]] std::string bytes_of(std::int32_t token, bool is_first) const;

  /// The id of a token by its text: of an added one as it is written, of others the bytes.
  [[nodiscard]] std::optional<std::int32_t> find(std::string_view text) const;
  [[nodiscard]] bool is_special(std::int32_t token) const;
  /// What stands for text that has no tokens.
  [[nodiscard]] std::optional<std::int32_t> unknown() const { return parts_.unknown; }
  /// One more than the highest id.
  [[nodiscard]] std::size_t size() const { return added_by_id_.size(); }

 private:
  struct Run;

  void encode_between(Run& run) const;
  void encode_plain(std::string_view text, Run& run) const;
  void encode_with_visible_spaces(std::string_view text, const VisibleSpaces& spaces,
                                  Run& run) const;

  TokenizerParts parts_;  ///< the added tokens have gone into what follows
  AddedTokens added_;
  AddedTokens added_normalised_;
  /// The added token of each id, an index to `added_texts_`; -1: none.
  std::vector<std::int32_t> added_by_id_;
  std::vector<AddedToken> added_texts_;
};

/// Tokens as text while they come: bytes of a character that is not yet whole are held back.
class TextStream {
 public:
  explicit TextStream(const Tokenizer& tokenizer) : tokenizer_(&tokenizer) {}

  /// What can be shown now; control tokens give nothing.
  [[nodiscard]] std::string add(std::int32_t token);
  /// What is left: a U+FFFD for a character that never became whole.
  [[nodiscard]] std::string finish();

 private:
  const Tokenizer* tokenizer_;
  std::string held_;
  bool is_first_ = true;
};

}  // namespace axle::runtime
