#pragma once
// Byte-level byte pair encoding: GPT-2's, and that of most models since.

#include <cstdint>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "runtime/result.h"

namespace axle::runtime {

/// A token as files write it, a character for each byte (GPT-2's bytes_to_unicode), as its bytes;
/// other characters stay as they are.
[[nodiscard]] std::string bytes_of_token(std::string_view written);

class BytePairs {
 public:
  /// Tokens by their bytes; of two with the same bytes the first counts.
  void add_token(std::string bytes, std::int32_t id);

  /// Pairs in the order of their rank. AXLE_MALFORMED if a part or what both make is no token.
  [[nodiscard]] Result<void> add_merge(std::string_view left, std::string_view right,
                                       const std::string& where);

  /// Words that are tokens are taken whole, whatever the merges say (Llama 3).
  void take_whole_words() { whole_words_ = true; }

  /// Bytes that no token has become `id`; without it they are left out.
  void set_unknown(std::int32_t id) { unknown_ = id; }

  /// Prepares the tokens of single bytes; after all tokens.
  void finish();

  /// Appends the tokens of one word, in n log n steps for n bytes.
  void encode(std::string_view word, std::vector<std::int32_t>& to) const;

 private:
  struct Merge {
    std::uint32_t rank;
    std::int32_t token;
  };
  struct Symbol {
    std::int32_t token;
    std::int32_t previous;
    std::int32_t next;  ///< -1: none; -2: merged into the one before
  };
  struct Candidate {
    std::uint32_t rank;
    std::int32_t left;
    std::int32_t left_token;  ///< as they were: a candidate that is out of date is passed over
    std::int32_t right_token;
  };

  [[nodiscard]] static std::uint64_t key(std::int32_t left, std::int32_t right) {
    return static_cast<std::uint64_t>(static_cast<std::uint32_t>(left)) << 32U |
           static_cast<std::uint32_t>(right);
  }
  void merge_all(std::vector<Symbol>& symbols) const;

  std::unordered_map<std::string, std::int32_t> tokens_;
  std::unordered_map<std::uint64_t, Merge> merges_;
  std::int32_t of_byte_[256] = {};
  std::int32_t unknown_ = -1;
  std::size_t ranks_ = 0;
  bool whole_words_ = false;
};

}  // namespace axle::runtime
