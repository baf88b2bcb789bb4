#include "runtime/tokenizer/word_pieces.h"

#include <algorithm>

#include "runtime/tokenizer/unicode.h"

namespace axle::runtime {
namespace {

/// The blocks that BERT calls Chinese (google-research/bert, tokenization.py).
constexpr std::pair<char32_t, char32_t> chinese[] = {
    {0x4e00, 0x9fff},   {0x3400, 0x4dbf},   {0x20000, 0x2a6df}, {0x2a700, 0x2b73f},
    {0x2b740, 0x2b81f}, {0x2b920, 0x2ceaf}, {0xf900, 0xfaff},   {0x2f800, 0x2fa1f}};

bool is_chinese(char32_t c) {
  return std::any_of(std::begin(chinese), std::end(chinese),
                     [&](const auto& block) { return c >= block.first && c <= block.second; });
}

/// Category C without what is not assigned, tab and line ends; vertical tab, form feed and U+0085
/// are white space as well, and left out all the same.
bool is_control(char32_t c) {
  return class_of(c) == CharacterClass::other || c == 0xb || c == 0xc || c == 0x85;
}

/// All ASCII characters that are neither letter, digit nor space count, too.
bool is_punctuation(char32_t c) {
  const bool ascii = (c >= '!' && c <= '/') || (c >= ':' && c <= '@') || (c >= '[' && c <= '`') ||
                     (c >= '{' && c <= '~');
  return ascii || class_of(c) == CharacterClass::punctuation;
}

}  // namespace

std::u32string clean(std::u32string_view text, const BertCleaning& cleaning) {
  std::u32string result;
  for (const char32_t c : text) {
    if (cleaning.clean_text) {
      if (c == 0 || c == 0xfffd || is_control(c)) continue;
      if (is_space(c)) {
        result += U' ';
        continue;
      }
    }
    if (cleaning.separate_chinese && is_chinese(c)) {
      result += U' ';
      result += c;
      result += U' ';
    } else {
      result += c;
    }
  }
  if (cleaning.strip_accents) {
    result = decompose(result);
    std::erase_if(result,
                  [](char32_t c) { return class_of(c) == CharacterClass::nonspacing_mark; });
  }
  if (cleaning.lower_case) {
    std::u32string lower;
    for (const char32_t c : result) append_lower_case(c, lower);
    result = std::move(lower);
  }
  return result;
}

std::vector<std::u32string_view> split_at_punctuation(std::u32string_view text) {
  std::vector<std::u32string_view> words;
  std::size_t start = 0;
  for (std::size_t i = 0; i <= text.size(); ++i) {
    const bool ends = i == text.size() || is_space(text[i]) || is_punctuation(text[i]);
    if (!ends) continue;
    if (i > start) words.push_back(text.substr(start, i - start));
    if (i < text.size() && is_punctuation(text[i])) words.push_back(text.substr(i, 1));
    start = i + 1;
  }
  return words;
}

void WordPieces::add_token(std::string text, std::int32_t id) {
  longest_ = std::max(longest_, text.size());
  tokens_.try_emplace(std::move(text), id);
}

void WordPieces::encode(std::u32string_view word, std::vector<std::int32_t>& to) const {
  if (word.size() > longest_word) {
    to.push_back(unknown);
    return;
  }
  const std::size_t before = to.size();
  for (std::size_t start = 0; start < word.size();) {
    std::size_t end = word.size();
    std::string piece = (start > 0 ? continuation : "") + encode_utf8(word.substr(start));
    auto found = tokens_.end();
    while (end > start &&
           (piece.size() > longest_ || (found = tokens_.find(piece)) == tokens_.end())) {
      --end;
      std::string last;
      append_utf8(word[end], last);
      piece.resize(piece.size() - last.size());
    }
    if (end == start) {
      to.resize(before);
      to.push_back(unknown);
      return;
    }
    to.push_back(found->second);
    start = end;
  }
}

}  // namespace axle::runtime
