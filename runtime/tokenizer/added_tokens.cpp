#include "runtime/tokenizer/added_tokens.h"

#include <algorithm>

#include "runtime/tokenizer/unicode.h"

namespace axle::runtime {
namespace {

bool touches_words(std::string_view text, std::size_t first, std::size_t end) {
  return (first > 0 && is_word(last_character(text.substr(0, first)).code)) ||
         (end < text.size() && is_word(first_character(text.substr(end)).code));
}

std::size_t before_spaces(std::string_view text, std::size_t end) {
  while (end > 0) {
    const Character c = last_character(text.substr(0, end));
    if (!is_space(c.code)) break;
    end -= c.bytes;
  }
  return end;
}

std::size_t behind_spaces(std::string_view text, std::size_t from) {
  while (from < text.size()) {
    const Character c = first_character(text.substr(from));
    if (!is_space(c.code)) break;
    from += c.bytes;
  }
  return from;
}

}  // namespace

void AddedTokens::set(std::vector<AddedToken> tokens) {
  std::erase_if(tokens, [](const AddedToken& token) { return token.text.empty(); });
  std::sort(tokens.begin(), tokens.end(), [](const AddedToken& a, const AddedToken& b) {
    return a.text != b.text ? a.text < b.text : a.id < b.id;
  });
  const auto same = [](const AddedToken& a, const AddedToken& b) { return a.text == b.text; };
  tokens.erase(std::unique(tokens.begin(), tokens.end(), same), tokens.end());
  tokens_ = std::move(tokens);
  std::fill(std::begin(begins_), std::end(begins_), false);
  for (const AddedToken& token : tokens_) begins_[static_cast<unsigned char>(token.text[0])] = true;
}

/// Narrows the tokens down to those that have the text's first byte, then its second, …
const AddedToken* AddedTokens::longest_at(std::string_view text) const {
  const AddedToken* longest = nullptr;
  auto first = tokens_.begin();
  auto last = tokens_.end();
  for (std::size_t i = 0; i < text.size() && first != last; ++i) {
    const auto byte_of = [i](const AddedToken& token) {
      return i < token.text.size() ? static_cast<unsigned char>(token.text[i]) : -1;
    };
    const int byte = static_cast<unsigned char>(text[i]);
    first = std::partition_point(first, last,
                                 [&](const AddedToken& token) { return byte_of(token) < byte; });
    last = std::partition_point(first, last,
                                [&](const AddedToken& token) { return byte_of(token) == byte; });
    if (first != last && first->text.size() == i + 1) longest = &*first;
  }
  return longest;
}

std::vector<TextPart> AddedTokens::find_in(std::string_view text, bool special) const {
  std::vector<TextPart> parts;
  std::size_t start = 0;  // of what is not yet in `parts`
  for (std::size_t at = 0; at < text.size();) {
    const AddedToken* const token =
        begins_[static_cast<unsigned char>(text[at])] ? longest_at(text.substr(at)) : nullptr;
    if (token == nullptr) {
      ++at;
      continue;
    }
    const std::size_t end = at + token->text.size();
    const bool counts =
        (special || !token->special) && !(token->single_word && touches_words(text, at, end));
    if (counts) {
      // The token before may have taken the white space between both.
      const std::size_t left = token->strip_left ? before_spaces(text, at) : at;
      const std::size_t first = std::max(left, start);
      const std::size_t behind = token->strip_right ? behind_spaces(text, end) : end;
      if (first > start) parts.push_back({text.substr(start, first - start), nullptr});
      parts.push_back({text.substr(first, behind - first), token});
      start = behind;
    }
    at = std::max(end, start);
  }
  if (start < text.size()) parts.push_back({text.substr(start), nullptr});
  return parts;
}

}  // namespace axle::runtime
