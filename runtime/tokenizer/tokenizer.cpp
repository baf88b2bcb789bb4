#include "runtime/tokenizer/tokenizer.h"

#include <algorithm>

#include "runtime/tokenizer/unicode.h"

namespace axle::runtime {
/// One call of encode().
struct Tokenizer::Run {
  std::vector<std::int32_t> tokens;
  std::string between;   ///< text since the last token that was found
  bool at_start = true;  ///< no such token yet
  BytePairs::Room room;
};

Tokenizer::Tokenizer(TokenizerParts parts) : parts_(std::move(parts)) {
  added_texts_ = parts_.added;
  added_texts_.insert(added_texts_.end(), parts_.added_normalised.begin(),
                      parts_.added_normalised.end());
  for (AddedToken& token : parts_.added_normalised) {
    if (const WordPieceModel* const words = std::get_if<WordPieceModel>(&parts_.model)) {
      token.text = clean(token.text, words->cleaning);
    } else if (std::get<BytePairModel>(parts_.model).compose) {
      token.text = compose_utf8(token.text);
    }
  }
  added_.set(std::move(parts_.added));
  added_normalised_.set(std::move(parts_.added_normalised));
  std::size_t size = parts_.vocabulary.size();
  for (const AddedToken& token : added_texts_)
    size = std::max(size, static_cast<std::size_t>(token.id) + 1);
  added_by_id_.assign(size, -1);
  for (std::size_t i = 0; i < added_texts_.size(); ++i)
    added_by_id_[static_cast<std::size_t>(added_texts_[i].id)] = static_cast<std::int32_t>(i);
}

/// `text` as SentencePiece sees it.
void Tokenizer::encode_with_visible_spaces(std::string_view text, const VisibleSpaces& spaces,
                                           Run& run) const {
  using Before = VisibleSpaces::Before;
  std::string visible;
  const bool begins = text.starts_with(' ') || text.starts_with(visible_space);
  if (spaces.before == Before::each_always || (spaces.before == Before::each && !begins) ||
      (spaces.before == Before::first && !begins && run.at_start))
    visible = visible_space;
  for (const char c : text) {
    if (c == ' ') {
      visible += visible_space;
    } else {
      visible += c;
    }
  }
  const BytePairs& pairs = std::get<BytePairModel>(parts_.model).pairs;
  for (std::string_view rest = visible; !rest.empty();) {
    const std::size_t next = spaces.split ? rest.find(visible_space, 1) : std::string_view::npos;
    const std::string_view word = rest.substr(0, next);
    pairs.encode(parts_.vocabulary, word, run.room, run.tokens);
    rest.remove_prefix(word.size());
  }
}

void Tokenizer::encode_plain(std::string_view text, Run& run) const {
  if (const WordPieceModel* const words = std::get_if<WordPieceModel>(&parts_.model)) {
    for (const std::string_view word : split_at_punctuation(text))
      words->pieces.encode(parts_.vocabulary, word, run.tokens);
    return;
  }
  const BytePairModel& model = std::get<BytePairModel>(parts_.model);
  if (model.spaces) return encode_with_visible_spaces(text, *model.spaces, run);
  for_each_word(text, model.rules, [&](std::string_view word) {
    model.pairs.encode(parts_.vocabulary, word, run.room, run.tokens);
  });
}

/// The text between two tokens that were found in it as it was written.
void Tokenizer::encode_between(Run& run) const {
  std::string normalised;
  if (const WordPieceModel* const words = std::get_if<WordPieceModel>(&parts_.model)) {
    normalised = clean(run.between, words->cleaning);
  } else if (std::get<BytePairModel>(parts_.model).compose) {
    normalised = compose_utf8(run.between);
  } else {
    normalised.swap(run.between);
  }
  run.between.clear();
  for (const TextPart& part : added_normalised_.find_in(normalised, true)) {
    if (part.token != nullptr) {
      run.tokens.push_back(part.token->id);
    } else {
      encode_plain(part.text, run);
    }
    run.at_start = false;
  }
}

Result<std::vector<std::int32_t>> Tokenizer::encode(std::span<const Piece> pieces,
                                                    bool add_special) const {
  Run run;
  if (add_special) run.tokens = parts_.prefix;
  std::size_t bytes = 0;
  for (const Piece& piece : pieces) {
    bytes += piece.text.size();
    if (bytes > most_bytes)
      return failure(AXLE_BAD_ARGUMENT, "the text is longer than %zu bytes; give it in parts",
                     most_bytes);
    const std::string text = valid_utf8(piece.text);
    for (const TextPart& part : added_.find_in(text, piece.parse_special)) {
      if (part.token == nullptr) {
        run.between += part.text;
        continue;
      }
      encode_between(run);
      run.at_start = false;
      run.tokens.push_back(part.token->id);
    }
  }
  encode_between(run);
  if (add_special) run.tokens.insert(run.tokens.end(), parts_.suffix.begin(), parts_.suffix.end());
  return std::move(run.tokens);
}

Result<TokenPair> Tokenizer::encode_pair(const Piece& first, const Piece& second) const {
  if (parts_.pair.empty())
    return failure(AXLE_UNSUPPORTED,
                   "the tokenizer does not say how two texts are read together: the "
                   "\"post_processor\" of tokenizer.json must be BertProcessing, or a "
                   "TemplateProcessing whose \"pair\" is text A and then text B");
  TokenPair pair;
  std::optional<std::size_t> boundary;
  for (const PairPiece& piece : parts_.pair) {
    if (piece.second_segment && !boundary) boundary = pair.tokens.size();
    if (piece.kind == PairPiece::Kind::token) {
      pair.tokens.push_back(piece.token);
      continue;
    }
    const Piece& text = piece.kind == PairPiece::Kind::first_text ? first : second;
    const Result<std::vector<std::int32_t>> tokens = encode({&text, 1}, false);
    if (!tokens) return std::unexpected(tokens.error());
    pair.tokens.insert(pair.tokens.end(), tokens->begin(), tokens->end());
  }
  pair.second = boundary.value_or(pair.tokens.size());
  return pair;
}

std::optional<std::int32_t> Tokenizer::find(std::string_view text) const {
  for (const AddedToken& token : added_texts_) {
    if (token.text == text) return token.id;
  }
  const std::int32_t found = parts_.vocabulary.find(text);
  if (found == Vocabulary::none) return std::nullopt;
  return found;
}

bool Tokenizer::is_special(std::int32_t token) const {
  if (token < 0 || static_cast<std::size_t>(token) >= added_by_id_.size()) return false;
  const std::int32_t at = added_by_id_[static_cast<std::size_t>(token)];
  return at >= 0 && added_texts_[static_cast<std::size_t>(at)].special;
}

}  // namespace axle::runtime
