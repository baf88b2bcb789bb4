#include "runtime/tokenizer/byte_pairs.h"

#include <algorithm>

#include "runtime/tokenizer/unicode.h"

namespace axle::runtime {
namespace {

/// Bytes that are written as the character of the same number; all others, in order, as those from
/// U+0100 on.
constexpr bool is_written_as_itself(unsigned byte) {
  return (byte >= '!' && byte <= '~') || (byte >= 0xa1 && byte <= 0xac) || byte >= 0xae;
}

struct ByteTable {
  char32_t character[256];
  std::int16_t byte_of[256 + 68];  ///< by character; -1: none
};

constexpr ByteTable make_byte_table() {
  ByteTable table{};
  for (std::int16_t& byte : table.byte_of) byte = -1;
  char32_t next = 256;
  for (unsigned byte = 0; byte < 256; ++byte) {
    table.character[byte] = is_written_as_itself(byte) ? byte : next++;
    table.byte_of[table.character[byte]] = static_cast<std::int16_t>(byte);
  }
  return table;
}

constexpr ByteTable byte_table = make_byte_table();

}  // namespace

std::string bytes_of_token(std::string_view written) {
  std::string bytes;
  for (const char32_t c : decode_utf8(written)) {
    if (c < std::size(byte_table.byte_of) && byte_table.byte_of[c] >= 0) {
      bytes += static_cast<char>(byte_table.byte_of[c]);
    } else {
      append_utf8(c, bytes);
    }
  }
  return bytes;
}

void BytePairs::add_token(std::string bytes, std::int32_t id) {
  tokens_.try_emplace(std::move(bytes), id);
}

Result<void> BytePairs::add_merge(std::string_view left, std::string_view right,
                                  const std::string& where) {
  const std::string a = bytes_of_token(left);
  const std::string b = bytes_of_token(right);
  const auto first = tokens_.find(a);
  const auto second = tokens_.find(b);
  const auto both = tokens_.find(a + b);
  if (first == tokens_.end() || second == tokens_.end() || both == tokens_.end())
    return failure(AXLE_MALFORMED,
                   "%s: merge %zu, \"%s\" and \"%s\": the parts and what they make must be tokens",
                   where.c_str(), ranks_, std::string(left).c_str(), std::string(right).c_str());
  // A pair that is there twice has the rank of the last one, as in Hugging Face's tokenizers.
  merges_[key(first->second, second->second)] = {static_cast<std::uint32_t>(ranks_++),
                                                 both->second};
  return {};
}

void BytePairs::finish() {
  for (unsigned byte = 0; byte < 256; ++byte) {
    const auto found = tokens_.find(std::string(1, static_cast<char>(byte)));
    of_byte_[byte] = found == tokens_.end() ? unknown_ : found->second;
  }
}

void BytePairs::merge_all(std::vector<Symbol>& symbols) const {
  // The lowest rank first, of equals the leftmost.
  const auto later = [](const Candidate& a, const Candidate& b) {
    return a.rank != b.rank ? a.rank > b.rank : a.left > b.left;
  };
  std::vector<Candidate> heap;
  const auto consider = [&](std::int32_t left) {
    if (left < 0) return;
    const Symbol& symbol = symbols[static_cast<std::size_t>(left)];
    if (symbol.next < 0) return;
    const std::int32_t right = symbols[static_cast<std::size_t>(symbol.next)].token;
    const auto merge = merges_.find(key(symbol.token, right));
    if (merge == merges_.end()) return;
    heap.push_back({merge->second.rank, left, symbol.token, right});
    std::push_heap(heap.begin(), heap.end(), later);
  };
  for (std::size_t i = 0; i + 1 < symbols.size(); ++i) consider(static_cast<std::int32_t>(i));
  while (!heap.empty()) {
    const Candidate best = heap.front();
    std::pop_heap(heap.begin(), heap.end(), later);
    heap.pop_back();
    Symbol& left = symbols[static_cast<std::size_t>(best.left)];
    if (left.next < 0 || left.token != best.left_token) continue;
    Symbol& right = symbols[static_cast<std::size_t>(left.next)];
    if (right.token != best.right_token) continue;
    left.token = merges_.find(key(best.left_token, best.right_token))->second.token;
    const std::int32_t behind = right.next;
    right.next = -2;
    left.next = behind;
    if (behind >= 0) symbols[static_cast<std::size_t>(behind)].previous = best.left;
    consider(left.previous);
    consider(best.left);
  }
}

void BytePairs::encode(std::string_view word, std::vector<std::int32_t>& to) const {
  if (whole_words_) {
    const auto whole = tokens_.find(std::string(word));
    if (whole != tokens_.end()) {
      to.push_back(whole->second);
      return;
    }
  }
  std::vector<Symbol> symbols;
  symbols.reserve(word.size());
  for (const char c : word) {
    const std::int32_t token = of_byte_[static_cast<unsigned char>(c)];
    if (token < 0) continue;
    const std::int32_t at = static_cast<std::int32_t>(symbols.size());
    symbols.push_back({token, at - 1, at + 1});
  }
  if (symbols.empty()) return;
  symbols.back().next = -1;
  merge_all(symbols);
  for (std::int32_t i = 0; i >= 0; i = symbols[static_cast<std::size_t>(i)].next)
    to.push_back(symbols[static_cast<std::size_t>(i)].token);
}

}  // namespace axle::runtime
