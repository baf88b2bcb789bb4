// The tokenizer of a GGUF file (ggml's docs/gguf.md, "Tokenizer").
#include <algorithm>
#include <iterator>

#include "runtime/tokenizer/tokenizer.h"
#include "runtime/tokenizer/unicode.h"

namespace axle::runtime {
namespace {

// llama.cpp's names (LLAMA_VOCAB_PRE_TYPE_…). Its Qwen has no NFC; that of Hugging Face has.
constexpr NamedSplit splits[] = {
    {"gpt-2", {SplitRule::gpt2}, 1, false, false},
    {"llama-bpe", {SplitRule::llama3}, 1, true, false},
    {"llama3", {SplitRule::llama3}, 1, true, false},
    {"llama-v3", {SplitRule::llama3}, 1, true, false},
    {"qwen2", {SplitRule::qwen2}, 1, false, true},
    {"deepseek-r1-qwen", {SplitRule::qwen2}, 1, false, false},
    {"smollm", {SplitRule::digits, SplitRule::gpt2}, 2, false, false},
    {"tekken", {SplitRule::tekken}, 1, true, false},
};

using gguf_token::control;
using gguf_token::normal;
using gguf_token::unknown;
using gguf_token::user_defined;

class GgufReader {
 public:
  GgufReader(const GgufVocabulary& gguf, const std::string& where) : gguf_(gguf), where_(where) {}

  Result<Tokenizer> read() {
    if (gguf_.tokens.empty())
      return failure(AXLE_MALFORMED, "%s: there is no metadata \"tokenizer.ggml.tokens\"",
                     where_.c_str());
    if (!gguf_.types.empty() && gguf_.types.size() != gguf_.tokens.size())
      return failure(AXLE_MALFORMED, "%s: %zu tokens have %zu types", where_.c_str(),
                     gguf_.tokens.size(), gguf_.types.size());
    Result<void> done = failure(
        AXLE_UNSUPPORTED,
        "%s: a tokenizer of model \"%s\" is not supported; there are \"gpt2\", byte-level byte "
        "pair encoding, and \"bert\", word pieces",
        where_.c_str(), std::string(gguf_.model).c_str());
    if (gguf_.model == "gpt2") done = read_byte_pairs();
    if (gguf_.model == "bert") done = read_word_pieces();
    if (done) done = check_ids();
    if (!done) return std::unexpected(done.error());
    return Tokenizer(std::move(parts_));
  }

 private:
  [[nodiscard]] std::int64_t type_of(std::size_t token) const {
    return gguf_.types.empty() ? std::int64_t{normal} : gguf_.types[token];
  }

  /// Tokens that are found in a text as they are written. Unknown ones count as control tokens.
  void add_written(std::size_t token) {
    parts_.added.push_back({.id = static_cast<std::int32_t>(token),
                            .text = std::string(gguf_.tokens[token]),
                            .special = type_of(token) != user_defined});
  }

  Result<void> read_byte_pairs() {
    const NamedSplit* const split = find_split(gguf_.split);
    if (split == nullptr) return unknown_split();
    BytePairModel& model = parts_.model.emplace<BytePairModel>();
    model.rules.assign(split->rules, split->rules + split->count);
    model.compose = split->compose;
    model.pairs.whole_words = split->whole_words;
    parts_.vocabulary = Vocabulary(gguf_.tokens.size());
    for (std::size_t i = 0; i < gguf_.tokens.size(); ++i) {
      const std::int64_t type = type_of(i);
      if (type == control || type == user_defined || type == unknown) add_written(i);
      // A user's text must not become a control token by way of the merges.
      if (type != control && type != unknown && !add(i, bytes_of_token(gguf_.tokens[i])))
        return too_many();
    }
    model.pairs.begin(parts_.vocabulary, gguf_.merges.size());
    for (const std::string_view merge : gguf_.merges) {
      const std::size_t space = merge.find(' ', 1);
      if (space == std::string_view::npos)
        return failure(AXLE_MALFORMED, "%s: tokenizer.ggml.merges: \"%s\" has no space",
                       where_.c_str(), std::string(merge).c_str());
      const Result<void> added =
          model.pairs.add_merge(parts_.vocabulary, bytes_of_token(merge.substr(0, space)),
                                bytes_of_token(merge.substr(space + 1)), where_);
      if (!added) return added;
    }
    if (gguf_.add_begin && gguf_.begin) parts_.prefix.push_back(*gguf_.begin);
    if (gguf_.add_end && gguf_.end) parts_.suffix.push_back(*gguf_.end);
    return {};
  }

  [[nodiscard]] bool add(std::size_t token, std::string_view text) {
    return parts_.vocabulary.add(static_cast<std::int64_t>(token), text) == Vocabulary::Added::yes;
  }

  [[nodiscard]] std::unexpected<Failure> too_many() const {
    return failure(AXLE_MALFORMED, "%s: %zu tokens are too many", where_.c_str(),
                   gguf_.tokens.size());
  }

  [[nodiscard]] std::unexpected<Failure> unknown_split() const {
    std::string names;
    for (const NamedSplit& split : splits) {
      if (!names.empty()) names += ", ";
      names += split.name;
    }
    if (gguf_.split.empty() || gguf_.split == "default")
      return failure(AXLE_UNSUPPORTED,
                     "%s: the file does not say how text is split into words "
                     "(tokenizer.ggml.pre); convert the model again with a newer converter",
                     where_.c_str());
    return failure(AXLE_UNSUPPORTED,
                   "%s: the pre-tokenizer \"%s\" (tokenizer.ggml.pre) is not supported; there are "
                   "%s",
                   where_.c_str(), std::string(gguf_.split).c_str(), names.c_str());
  }

  /// llama.cpp's converter writes words with U+2581 before them, and pieces that continue a word
  /// without "##".
  Result<void> read_word_pieces() {
    WordPieceModel& model = parts_.model.emplace<WordPieceModel>();
    parts_.vocabulary = Vocabulary(gguf_.tokens.size());
    for (std::size_t i = 0; i < gguf_.tokens.size(); ++i) {
      const std::string_view token = gguf_.tokens[i];
      const std::int64_t type = type_of(i);
      std::string text = model.pieces.continuation + std::string(token);
      if (token.starts_with(visible_space)) text = token.substr(3);
      if (type != normal || (token.starts_with('[') && token.ends_with(']'))) text = token;
      if (type == control || type == unknown) add_written(i);
      if (!add(i, text)) return too_many();
    }
    parts_.unknown = gguf_.unknown;
    if (!parts_.unknown) {
      const std::int32_t found = parts_.vocabulary.find("[UNK]");
      if (found == Vocabulary::none)
        return failure(AXLE_MALFORMED, "%s: there is no tokenizer.ggml.unknown_token_id",
                       where_.c_str());
      parts_.unknown = found;
    }
    model.pieces.unknown = *parts_.unknown;
    const auto first = gguf_.first ? gguf_.first : gguf_.begin;
    const auto separator = gguf_.separator ? gguf_.separator : gguf_.end;
    if (first) parts_.prefix.push_back(*first);
    if (separator) parts_.suffix.push_back(*separator);
    return {};
  }

  [[nodiscard]] Result<void> check_ids() const {
    for (const std::vector<std::int32_t>* ids : {&parts_.prefix, &parts_.suffix}) {
      for (const std::int32_t id : *ids) {
        if (id < 0 || static_cast<std::size_t>(id) >= gguf_.tokens.size())
          return failure(AXLE_MALFORMED, "%s: the metadata names token %d; there are %zu",
                         where_.c_str(), id, gguf_.tokens.size());
      }
    }
    if (parts_.unknown &&
        (*parts_.unknown < 0 || static_cast<std::size_t>(*parts_.unknown) >= gguf_.tokens.size()))
      return failure(AXLE_MALFORMED, "%s: the metadata names token %d; there are %zu",
                     where_.c_str(), *parts_.unknown, gguf_.tokens.size());
    return {};
  }

  const GgufVocabulary& gguf_;
  const std::string& where_;
  TokenizerParts parts_;
};

}  // namespace

const NamedSplit* find_split(std::string_view name) {
  const NamedSplit* const found =
      std::find_if(std::begin(splits), std::end(splits),
                   [&](const NamedSplit& one) { return one.name == name; });
  return found == std::end(splits) ? nullptr : found;
}

Result<Tokenizer> Tokenizer::from_gguf(const GgufVocabulary& vocabulary, const std::string& where) {
  return GgufReader(vocabulary, where).read();
}

}  // namespace axle::runtime
