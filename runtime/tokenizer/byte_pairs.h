#pragma once
// Byte pair encoding: of bytes, as GPT-2 and most models since have it, or of characters, as
// SentencePiece has it.

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "runtime/result.h"
#include "runtime/tokenizer/vocabulary.h"

namespace axle::runtime {

/// A token as files write it, a character for each byte (GPT-2's bytes_to_unicode), as its bytes.
/// A token with any other character stands for its own UTF-8.
[[nodiscard]] std::string bytes_of_token(std::string_view written);

/// Merges by the two tokens that they join: a hash table with open addressing.
class MergeTable {
 public:
  static constexpr std::uint32_t no_rank = UINT32_MAX;

  struct Merge {
    std::uint32_t rank = no_rank;
    std::int32_t token = Vocabulary::none;  ///< what both make
  };

  explicit MergeTable(std::size_t expected = 0);

  /// A pair that is there already gets the new rank, as in Hugging Face's tokenizers.
  void set(std::int32_t left, std::int32_t right, Merge merge);

  [[nodiscard]] Merge find(std::int32_t left, std::int32_t right) const {
    return slots_[slot_of(left, right)].merge;
  }

 private:
  struct Slot {
    std::int32_t left = Vocabulary::none;
    std::int32_t right = Vocabulary::none;
    Merge merge;
  };

  [[nodiscard]] std::size_t slot_of(std::int32_t left, std::int32_t right) const;

  std::vector<Slot> slots_;  ///< at most half full
};

/// How a word becomes the tokens that merging begins with.
struct BytePairAlphabet {
  bool characters = false;     ///< a token for each character, not for each byte
  bool byte_fallback = false;  ///< characters without a token are written as "<0xE2>", …
  bool fuse_unknown = false;   ///< neighbouring unknown characters make one unknown token
  std::int32_t unknown = Vocabulary::none;  ///< none: what has no token is left out
};

class BytePairs {
 public:
  BytePairAlphabet alphabet;

  /// Words that are tokens are taken whole, whatever the merges say (Llama 3).
  bool whole_words = false;

  /// Prepares for `merges` of them. The vocabulary is complete and must be the one of encode().
  void begin(const Vocabulary& vocabulary, std::size_t merges);

  /// Merges in the order of their rank, their parts as they are in the vocabulary.
  /// AXLE_MALFORMED if a part or what both make is no token.
  [[nodiscard]] Result<void> add_merge(const Vocabulary& vocabulary, std::string_view left,
                                       std::string_view right, const std::string& where);

  /// Room that encode() uses again and again.
  struct Symbol {
    std::int32_t token;
    std::int32_t previous;
    std::int32_t next;
  };
  struct Candidate {
    std::uint32_t rank;
    std::int32_t left;   ///< symbol
    std::int32_t token;  ///< what it makes
  };
  struct Room {
    std::vector<std::int32_t> tokens;
    std::vector<Symbol> symbols;
    std::vector<Candidate> heap;
  };

  /// Appends the tokens of one word of less than 2^31 bytes, in n log n steps for n bytes.
  void encode(const Vocabulary& vocabulary, std::string_view word, Room& room,
              std::vector<std::int32_t>& to) const;

 private:
  void first_tokens(const Vocabulary& vocabulary, std::string_view word,
                    std::vector<std::int32_t>& to) const;
  void first_tokens_of_characters(const Vocabulary& vocabulary, std::string_view word,
                                  std::vector<std::int32_t>& to) const;
  [[nodiscard]] bool add_byte_tokens(std::string_view character,
                                     std::vector<std::int32_t>& to) const;
  void merge_short(std::vector<std::int32_t>& tokens) const;
  void merge_long(Room& room) const;
  void consider(Room& room, std::int32_t left) const;

  MergeTable merges_;
  std::uint32_t ranks_ = 0;
  std::int32_t of_byte_[256] = {};
};

}  // namespace axle::runtime
