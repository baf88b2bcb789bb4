#include "runtime/tokenizer/word_pieces.h"

#include <algorithm>
#include <iterator>

#include "runtime/tokenizer/unicode.h"

namespace axle::runtime {
namespace {

struct Block {
  char32_t first;
  char32_t last;
};

/// The blocks that BERT calls Chinese (google-research/bert, tokenization.py).
constexpr Block chinese[] = {{0x4e00, 0x9fff},   {0x3400, 0x4dbf},   {0x20000, 0x2a6df},
                             {0x2a700, 0x2b73f}, {0x2b740, 0x2b81f}, {0x2b920, 0x2ceaf},
                             {0xf900, 0xfaff},   {0x2f800, 0x2fa1f}};

bool is_chinese(char32_t c) {
  if (c < 0x3400) return false;
  return std::any_of(std::begin(chinese), std::end(chinese),
                     [&](const Block& block) { return c >= block.first && c <= block.last; });
}

/// Tab and line ends are white space; vertical tab, form feed and U+0085 are both, and left out.
bool is_left_out(char32_t c) {
  if (c == '\t' || c == '\n' || c == '\r') return false;
  if (c == 0 || c == 0xfffd || c == 0xb || c == 0xc || c == 0x85) return true;
  return class_of(c) == CharacterClass::control && !is_young(c);
}

/// All ASCII characters that are neither letter, digit nor space count, too.
bool is_punctuation(char32_t c) {
  if (c < 0x80)
    return (c >= '!' && c <= '/') || (c >= ':' && c <= '@') || (c >= '[' && c <= '`') ||
           (c >= '{' && c <= '~');
  // What Unicode 8.0 called punctuation and later versions do not.
  if (c == 0x166d || c == 0x111c9) return true;
  return class_of(c) == CharacterClass::punctuation && !is_young(c);
}

bool is_stripped(char32_t c) {
  // What was a nonspacing mark in Unicode 8.0 and is none now, and the other way round.
  if (c == 0x1734) return true;
  if (c == 0x1885 || c == 0x1886 || c == 0xa9bd || c == 0x111c9) return false;
  return class_of(c) == CharacterClass::nonspacing_mark && !is_young(c);
}

bool is_ascii(std::string_view text) {
  return std::all_of(text.begin(), text.end(),
                     [](char c) { return static_cast<unsigned char>(c) < 0x80; });
}

std::string clean_ascii(std::string_view text, const BertCleaning& cleaning) {
  std::string result;
  result.reserve(text.size());
  for (const char c : text) {
    const bool white = c == ' ' || c == '\t' || c == '\n' || c == '\r';
    if (cleaning.clean_text && !white && (c < ' ' || c == 0x7f)) continue;
    const bool upper = cleaning.lower_case && c >= 'A' && c <= 'Z';
    result += cleaning.clean_text && white ? ' ' : upper ? static_cast<char>(c + ('a' - 'A')) : c;
  }
  return result;
}

}  // namespace

std::string clean(std::string_view text, const BertCleaning& cleaning) {
  if (is_ascii(text)) return clean_ascii(text, cleaning);
  std::u32string result;
  for (const char32_t c : decode_utf8(text)) {
    if (cleaning.clean_text) {
      if (is_left_out(c)) continue;
      if (is_space(c)) {
        result += U' ';
        continue;
      }
    }
    const bool apart = cleaning.separate_chinese && is_chinese(c);
    if (apart) result += U' ';
    result += c;
    if (apart) result += U' ';
  }
  if (cleaning.strip_accents) {
    result = decompose(result);
    std::erase_if(result, is_stripped);
  }
  if (cleaning.lower_case) {
    std::u32string lower;
    lower.reserve(result.size());
    for (const char32_t c : result) append_lower_case(c, lower);
    result = std::move(lower);
  }
  return encode_utf8(result);
}

std::vector<std::string_view> split_at_punctuation(std::string_view text) {
  std::vector<std::string_view> words;
  std::size_t start = 0;
  std::size_t at = 0;
  while (at < text.size()) {
    const Character c = first_character(text.substr(at));
    const bool punctuation = is_punctuation(c.code);
    if (punctuation || is_space(c.code)) {
      if (at > start) words.push_back(text.substr(start, at - start));
      if (punctuation) words.push_back(text.substr(at, c.bytes));
      start = at + c.bytes;
    }
    at += c.bytes;
  }
  if (at > start) words.push_back(text.substr(start));
  return words;
}

void WordPieces::encode(const Vocabulary& vocabulary, std::string_view word,
                        std::vector<std::int32_t>& to) const {
  const auto begins_character = [](char c) {
    return (static_cast<unsigned char>(c) & 0xc0U) != 0x80;
  };
  const auto characters = std::count_if(word.begin(), word.end(), begins_character);
  if (static_cast<std::size_t>(characters) > longest_word) {
    to.push_back(unknown);
    return;
  }
  const std::size_t before = to.size();
  std::string piece;
  for (std::size_t start = 0; start < word.size();) {
    piece = start > 0 ? continuation : "";
    const std::size_t prefix = piece.size();
    // No byte more than the longest token has, nor a part of a character.
    piece += word.substr(start, vocabulary.longest());
    std::size_t end = piece.size();
    std::int32_t found = Vocabulary::none;
    for (; end > prefix && found < 0; --end) {
      const std::size_t behind = start + end - prefix;
      if (behind < word.size() && !begins_character(word[behind])) continue;
      found = vocabulary.find(std::string_view(piece).substr(0, end));
      if (found >= 0) break;
    }
    if (found < 0) {
      to.resize(before);
      to.push_back(unknown);
      return;
    }
    to.push_back(found);
    start += end - prefix;
  }
}

}  // namespace axle::runtime
