#include "runtime/tokenizer/added_tokens.h"

#include <algorithm>

#include "runtime/tokenizer/unicode.h"

namespace axle::runtime {
namespace {

/// \w of regular expressions, of the connecting signs only the underscore.
bool is_word(char32_t c) {
  const CharacterClass own = class_of(c);
  return own == CharacterClass::letter || own == CharacterClass::number || c == '_' ||
         own == CharacterClass::mark || own == CharacterClass::nonspacing_mark;
}

}  // namespace

void AddedTokens::add(AddedToken token) {
  if (token.text.empty()) return;
  const auto before = [](const AddedToken& a, const AddedToken& b) {
    if (a.text[0] != b.text[0]) return a.text[0] < b.text[0];
    return a.text.size() > b.text.size();
  };
  tokens_.insert(std::upper_bound(tokens_.begin(), tokens_.end(), token, before), std::move(token));
}

const AddedToken* AddedTokens::match(std::u32string_view text, std::size_t at, bool normalised,
                                     bool special) const {
  auto one = std::lower_bound(tokens_.begin(), tokens_.end(), text[at],
                              [](const AddedToken& t, char32_t c) { return t.text[0] < c; });
  for (; one != tokens_.end() && one->text[0] == text[at]; ++one) {
    if (one->normalised != normalised || (one->special && !special)) continue;
    if (text.substr(at, one->text.size()) != one->text) continue;
    const std::size_t end = at + one->text.size();
    const bool inside =
        (at > 0 && is_word(text[at - 1])) || (end < text.size() && is_word(text[end]));
    if (!(one->single_word && inside)) return &*one;
  }
  return nullptr;
}

std::vector<TextPart> AddedTokens::find_in(std::u32string_view text, bool normalised,
                                           bool special) const {
  std::vector<TextPart> parts;
  std::size_t start = 0;
  for (std::size_t at = 0; at < text.size();) {
    const AddedToken* const token = match(text, at, normalised, special);
    if (token == nullptr) {
      ++at;
      continue;
    }
    std::size_t first = at;
    std::size_t end = at + token->text.size();
    while (token->strip_left && first > start && is_space(text[first - 1])) --first;
    while (token->strip_right && end < text.size() && is_space(text[end])) ++end;
    if (first > start) parts.push_back({text.substr(start, first - start), nullptr});
    parts.push_back({text.substr(first, end - first), token});
    start = at = end;
  }
  if (start < text.size()) parts.push_back({text.substr(start), nullptr});
  return parts;
}

}  // namespace axle::runtime
