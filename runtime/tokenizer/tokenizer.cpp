#include "runtime/tokenizer/tokenizer.h"

#include "runtime/tokenizer/unicode.h"

namespace axle::runtime {

void Tokenizer::encode_plain(std::u32string_view text, std::vector<std::int32_t>& to) const {
  if (const WordPieceModel* const words = std::get_if<WordPieceModel>(&model_)) {
    for (const std::u32string_view word : split_at_punctuation(text))
      words->pieces.encode(word, to);
    return;
  }
  const ByteLevelModel& bytes = std::get<ByteLevelModel>(model_);
  std::u32string spaced;
  if (bytes.prefix_space && !text.empty() && !is_space(text[0])) {
    spaced = U' ' + std::u32string(text);
    text = spaced;
  }
  std::vector<std::u32string_view> pieces{text};
  for (const SplitRule rule : bytes.rules) pieces = split(pieces, rule);
  for (const std::u32string_view word : pieces) bytes.pairs.encode(encode_utf8(word), to);
}

/// Text between two tokens that were found in it as it was written.
void Tokenizer::encode_between(std::u32string_view text, std::vector<std::int32_t>& to) const {
  std::u32string normalised(text);
  if (const WordPieceModel* const words = std::get_if<WordPieceModel>(&model_)) {
    normalised = clean(text, words->cleaning);
  } else if (std::get<ByteLevelModel>(model_).compose) {
    normalised = compose(text);
  }
  for (const TextPart& part : added_.find_in(normalised, true, false)) {
    if (part.token != nullptr) {
      to.push_back(part.token->id);
    } else {
      encode_plain(part.text, to);
    }
  }
}

std::vector<std::int32_t> Tokenizer::encode(std::span<const Piece> pieces, bool add_special) const {
  std::vector<std::int32_t> tokens;
  if (add_special) tokens = prefix_;
  std::u32string between;
  for (const Piece& piece : pieces) {
    const std::u32string characters = decode_utf8(piece.text);
    for (const TextPart& part : added_.find_in(characters, false, piece.parse_special)) {
      if (part.token == nullptr) {
        between += part.text;
        continue;
      }
      encode_between(between, tokens);
      between.clear();
      tokens.push_back(part.token->id);
    }
  }
  encode_between(between, tokens);
  if (add_special) tokens.insert(tokens.end(), suffix_.begin(), suffix_.end());
  return tokens;
}

std::string Tokenizer::decode(std::span<const std::int32_t> tokens, bool with_special) const {
  const WordPieceModel* const words = std::get_if<WordPieceModel>(&model_);
  std::string text;
  for (const std::int32_t token : tokens) {
    if (token < 0 || static_cast<std::size_t>(token) >= texts_.size()) continue;
    if (!with_special && is_special(token)) continue;
    const std::string& own = texts_[static_cast<std::size_t>(token)];
    if (words == nullptr) {
      text += own;
    } else if (own.starts_with(words->pieces.continuation)) {
      text += own.substr(words->pieces.continuation.size());
    } else {
      text += (text.empty() ? "" : " ") + own;
    }
  }
  return text;
}

std::optional<std::int32_t> Tokenizer::find(std::string_view text) const {
  const auto found = ids_.find(std::string(text));
  if (found == ids_.end()) return std::nullopt;
  return found->second;
}

bool Tokenizer::is_special(std::int32_t token) const {
  return token >= 0 && static_cast<std::size_t>(token) < special_.size() &&
         special_[static_cast<std::size_t>(token)];
}

}  // namespace axle::runtime
