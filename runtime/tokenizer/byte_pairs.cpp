#include "runtime/tokenizer/byte_pairs.h"

#include <algorithm>
#include <bit>
#include <iterator>

#include "runtime/tokenizer/unicode.h"

namespace axle::runtime {
namespace {

/// Bytes that are written as the character of the same number; all others, in order, as those from
/// U+0100 on.
constexpr bool is_written_as_itself(unsigned byte) {
  return (byte >= '!' && byte <= '~') || (byte >= 0xa1 && byte <= 0xac) || byte >= 0xae;
}

struct ByteTable {
  std::int16_t byte_of[256 + 68];  ///< by character; -1: none
};

constexpr ByteTable make_byte_table() {
  ByteTable table{};
  for (std::int16_t& byte : table.byte_of) byte = -1;
  unsigned next = 256;
  for (unsigned byte = 0; byte < 256; ++byte)
    table.byte_of[is_written_as_itself(byte) ? byte : next++] = static_cast<std::int16_t>(byte);
  return table;
}

constexpr ByteTable byte_table = make_byte_table();

/// Words up to this many symbols are merged by looking at all pairs again and again.
constexpr std::size_t most_short = 40;

}  // namespace

std::string bytes_of_token(std::string_view written) {
  if (!is_utf8(written)) return std::string(written);
  std::string bytes;
  for (std::string_view rest = written; !rest.empty();) {
    const Character c = first_character(rest);
    if (c.code >= std::size(byte_table.byte_of) || byte_table.byte_of[c.code] < 0)
      return std::string(written);
    bytes += static_cast<char>(byte_table.byte_of[c.code]);
    rest.remove_prefix(c.bytes);
  }
  return bytes;
}

MergeTable::MergeTable(std::size_t expected) : slots_(std::bit_ceil(expected * 2 + 2)) {}

std::size_t MergeTable::slot_of(std::int32_t left, std::int32_t right) const {
  const std::size_t mask = slots_.size() - 1;
  std::uint64_t hash =
      std::uint64_t{static_cast<std::uint32_t>(left)} << 32U | static_cast<std::uint32_t>(right);
  hash *= 0x9e3779b97f4a7c15U;
  hash ^= hash >> 32U;
  std::size_t slot = hash & mask;
  while (slots_[slot].left != Vocabulary::none &&
         (slots_[slot].left != left || slots_[slot].right != right))
    slot = (slot + 1) & mask;
  return slot;
}

void MergeTable::set(std::int32_t left, std::int32_t right, Merge merge) {
  slots_[slot_of(left, right)] = {left, right, merge};
}

void BytePairs::begin(const Vocabulary& vocabulary, std::size_t merges) {
  merges_ = MergeTable(merges);
  constexpr char digits[] = "0123456789ABCDEF";
  for (unsigned byte = 0; byte < 256; ++byte) {
    std::string text(1, static_cast<char>(byte));
    if (alphabet.characters)
      text = std::string("<0x") + digits[byte / 16] + digits[byte % 16] + ">";
    of_byte_[byte] = vocabulary.find(text);
  }
}

Result<void> BytePairs::add_merge(const Vocabulary& vocabulary, std::string_view left,
                                  std::string_view right, const std::string& where) {
  const std::int32_t first = vocabulary.find(left);
  const std::int32_t second = vocabulary.find(right);
  const std::int32_t both = vocabulary.find(std::string(left) + std::string(right));
  if (first < 0 || second < 0 || both < 0)
    return failure(AXLE_MALFORMED,
                   "%s: merge %u, \"%s\" and \"%s\": the parts and what they make must be tokens",
                   where.c_str(), ranks_, std::string(left).c_str(), std::string(right).c_str());
  merges_.set(first, second, {ranks_++, both});
  return {};
}

/// Whether all bytes of the character have tokens; then they are appended.
bool BytePairs::add_byte_tokens(std::string_view character, std::vector<std::int32_t>& to) const {
  const auto token = [&](char c) { return of_byte_[static_cast<unsigned char>(c)]; };
  if (!std::all_of(character.begin(), character.end(), [&](char c) { return token(c) >= 0; }))
    return false;
  for (const char c : character) to.push_back(token(c));
  return true;
}

void BytePairs::first_tokens_of_characters(const Vocabulary& vocabulary, std::string_view word,
                                           std::vector<std::int32_t>& to) const {
  bool after_unknown = false;
  while (!word.empty()) {
    const std::string_view character = word.substr(0, first_character(word).bytes);
    word.remove_prefix(character.size());
    const std::int32_t token = vocabulary.find(character);
    const bool known = token >= 0;
    if (known) to.push_back(token);
    if (known || (alphabet.byte_fallback && add_byte_tokens(character, to))) {
      after_unknown = false;
      continue;
    }
    if (alphabet.unknown >= 0 && !(after_unknown && alphabet.fuse_unknown))
      to.push_back(alphabet.unknown);
    after_unknown = true;
  }
}

void BytePairs::first_tokens(const Vocabulary& vocabulary, std::string_view word,
                             std::vector<std::int32_t>& to) const {
  if (alphabet.characters) return first_tokens_of_characters(vocabulary, word, to);
  bool after_unknown = false;
  for (const char c : word) {
    const std::int32_t token = of_byte_[static_cast<unsigned char>(c)];
    if (token >= 0) {
      to.push_back(token);
    } else if (alphabet.unknown >= 0 && !(after_unknown && alphabet.fuse_unknown)) {
      to.push_back(alphabet.unknown);
    }
    after_unknown = token < 0;
  }
}

/// The lowest rank first, of equals the leftmost.
void BytePairs::merge_short(std::vector<std::int32_t>& tokens) const {
  MergeTable::Merge pairs[most_short];  // of each token with the next
  std::size_t count = tokens.size();
  for (std::size_t i = 0; i + 1 < count; ++i) pairs[i] = merges_.find(tokens[i], tokens[i + 1]);
  while (count > 1) {
    std::size_t best = 0;
    for (std::size_t i = 1; i + 1 < count; ++i) {
      if (pairs[i].rank < pairs[best].rank) best = i;
    }
    if (pairs[best].rank == MergeTable::no_rank) break;
    tokens[best] = pairs[best].token;
    --count;
    for (std::size_t i = best + 1; i < count; ++i) {
      tokens[i] = tokens[i + 1];
      pairs[i - 1] = pairs[i];
    }
    for (std::size_t i = best > 0 ? best - 1 : 0; i <= best && i + 1 < count; ++i)
      pairs[i] = merges_.find(tokens[i], tokens[i + 1]);
  }
  tokens.resize(count);
}

namespace {

bool later(const BytePairs::Candidate& a, const BytePairs::Candidate& b) {
  return a.rank != b.rank ? a.rank > b.rank : a.left > b.left;
}

}  // namespace

void BytePairs::consider(Room& room, std::int32_t left) const {
  if (left < 0) return;
  const Symbol& symbol = room.symbols[static_cast<std::size_t>(left)];
  if (symbol.next < 0) return;
  const std::int32_t right = room.symbols[static_cast<std::size_t>(symbol.next)].token;
  const MergeTable::Merge merge = merges_.find(symbol.token, right);
  if (merge.rank == MergeTable::no_rank) return;
  room.heap.push_back({merge.rank, left, merge.token});
  std::push_heap(room.heap.begin(), room.heap.end(), later);
}

/// The same with a heap of candidates; one that is out of date makes another token by now, since
/// its symbol has grown.
void BytePairs::merge_long(Room& room) const {
  constexpr std::int32_t none = -1;
  constexpr std::int32_t gone = -2;
  room.symbols.clear();
  room.heap.clear();
  for (const std::int32_t token : room.tokens) {
    const std::int32_t at = static_cast<std::int32_t>(room.symbols.size());
    room.symbols.push_back({token, at - 1, at + 1});
  }
  room.symbols.back().next = none;
  for (std::size_t i = 0; i < room.symbols.size(); ++i)
    consider(room, static_cast<std::int32_t>(i));
  while (!room.heap.empty()) {
    const Candidate best = room.heap.front();
    std::pop_heap(room.heap.begin(), room.heap.end(), later);
    room.heap.pop_back();
    Symbol& left = room.symbols[static_cast<std::size_t>(best.left)];
    if (left.next < 0) continue;
    Symbol& right = room.symbols[static_cast<std::size_t>(left.next)];
    if (merges_.find(left.token, right.token).token != best.token) continue;
    left.token = best.token;
    left.next = right.next;
    if (right.next >= 0) room.symbols[static_cast<std::size_t>(right.next)].previous = best.left;
    right.next = gone;
    consider(room, left.previous);
    consider(room, best.left);
  }
  room.tokens.clear();
  for (std::int32_t i = 0; i >= 0; i = room.symbols[static_cast<std::size_t>(i)].next)
    room.tokens.push_back(room.symbols[static_cast<std::size_t>(i)].token);
}

void BytePairs::encode(const Vocabulary& vocabulary, std::string_view word, Room& room,
                       std::vector<std::int32_t>& to) const {
  if (whole_words) {
    const std::int32_t whole = vocabulary.find(word);
    if (whole >= 0) {
      to.push_back(whole);
      return;
    }
  }
  room.tokens.clear();
  first_tokens(vocabulary, word, room.tokens);
  if (room.tokens.size() > most_short) {
    merge_long(room);
  } else if (room.tokens.size() > 1) {
    merge_short(room.tokens);
  }
  to.insert(to.end(), room.tokens.begin(), room.tokens.end());
}

}  // namespace axle::runtime
