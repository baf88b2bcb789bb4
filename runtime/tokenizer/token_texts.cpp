// Tokens to text.
#include <algorithm>
#include <iterator>

#include "runtime/tokenizer/tokenizer.h"
#include "runtime/tokenizer/unicode.h"

namespace axle::runtime {
namespace {

/// What "cleanup" of tokenizer.json lets follow a word without a space.
constexpr std::string_view without_space[] = {".", "?", "!", ",", "n't", "'m", "'s", "'ve", "'re"};

std::string word_piece_text(std::string_view token, const WordPieceModel& model, bool is_first) {
  if (is_first) return std::string(token);
  if (token.starts_with(model.pieces.continuation))
    return std::string(token.substr(model.pieces.continuation.size()));
  const bool close =
      model.clean_up && std::any_of(std::begin(without_space), std::end(without_space),
                                    [&](auto end) { return token.starts_with(end); });
  return (close ? "" : " ") + std::string(token);
}

int hex_digit(char c) {
  if (c >= '0' && c <= '9') return c - '0';
  if (c >= 'A' && c <= 'F') return c - 'A' + 10;
  return -1;
}

/// "<0x0A>" is a byte; U+2581 is a space, which at the beginning may be left out.
std::string sentence_piece_text(std::string_view token, const VisibleSpaces& spaces,
                                bool is_first) {
  if (token.size() == 6 && token.starts_with("<0x") && token[5] == '>') {
    const int high = hex_digit(token[3]);
    const int low = hex_digit(token[4]);
    if (high >= 0 && low >= 0) return std::string(1, static_cast<char>(high * 16 + low));
  }
  std::string text;
  while (!token.empty()) {
    const bool is_space = token.starts_with(visible_space);
    text += is_space ? ' ' : token[0];
    token.remove_prefix(is_space ? 3 : 1);
  }
  return is_first && spaces.strip_first && text.starts_with(' ') ? text.substr(1) : text;
}

}  // namespace

std::string Tokenizer::bytes_of(std::int32_t token, bool is_first) const {
  if (token < 0 || static_cast<std::size_t>(token) >= added_by_id_.size()) return "";
  const std::int32_t at = added_by_id_[static_cast<std::size_t>(token)];
  const std::string_view own =
      at >= 0 ? added_texts_[static_cast<std::size_t>(at)].text : parts_.vocabulary.text(token);
  if (const WordPieceModel* const words = std::get_if<WordPieceModel>(&parts_.model))
    return word_piece_text(own, *words, is_first);
  const BytePairModel& model = std::get<BytePairModel>(parts_.model);
  if (model.spaces && at < 0) return sentence_piece_text(own, *model.spaces, is_first);
  return std::string(own);
}

std::string Tokenizer::decode(std::span<const std::int32_t> tokens, bool with_special) const {
  std::string text;
  bool is_first = true;
  for (const std::int32_t token : tokens) {
    if (!with_special && is_special(token)) continue;
    text += bytes_of(token, is_first);
    is_first = false;
  }
  return valid_utf8(text);
}

std::string TextStream::add(std::int32_t token) {
  if (tokenizer_->is_special(token)) return "";
  held_ += tokenizer_->bytes_of(token, is_first_);
  is_first_ = false;
  const std::size_t whole = held_.size() - incomplete_bytes(held_);
  const std::string text = valid_utf8(std::string_view(held_).substr(0, whole));
  held_.erase(0, whole);
  return text;
}

std::string TextStream::finish() {
  const std::string text = valid_utf8(held_);
  held_.clear();
  return text;
}

}  // namespace axle::runtime
