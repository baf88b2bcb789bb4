// The tokenizer of a GGUF file (ggml's docs/gguf.md, "Tokenizer").
#include <algorithm>

#include "runtime/tokenizer/tokenizer_reader.h"
#include "runtime/tokenizer/unicode.h"

namespace axle::runtime {
namespace {

struct NamedSplit {
  std::string_view name;
  std::vector<SplitRule> rules;
  bool whole_words;
  bool compose;
};

const NamedSplit* find_split(std::string_view name) {
  static const NamedSplit splits[] = {
      {"default", {SplitRule::gpt2}, false, false},
      {"gpt-2", {SplitRule::gpt2}, false, false},
      {"llama-bpe", {SplitRule::llama3}, true, false},
      {"llama3", {SplitRule::llama3}, true, false},
      {"qwen2", {SplitRule::qwen2}, false, true},
      {"smollm", {SplitRule::digits, SplitRule::gpt2}, false, false},
  };
  const auto* const found = std::find_if(std::begin(splits), std::end(splits),
                                         [&](const NamedSplit& one) { return one.name == name; });
  return found == std::end(splits) ? nullptr : found;
}

constexpr std::int64_t control_type = 3;
constexpr std::int64_t added_type = 4;

class GgufReader : TokenizerReader {
 public:
  using TokenizerReader::TokenizerReader;

  Result<Tokenizer> read(const GgufVocabulary& vocabulary) {
    if (vocabulary.model != "gpt2")
      return failure(
          AXLE_UNSUPPORTED,
          "%s: a tokenizer of model \"%s\" is not supported; there is \"gpt2\", byte-level "
          "byte pair encoding",
          where_.c_str(), std::string(vocabulary.model).c_str());
    const NamedSplit* const split = find_split(vocabulary.split);
    if (split == nullptr)
      return failure(
          AXLE_UNSUPPORTED,
          "%s: the pre-tokenizer \"%s\" is not supported; there are gpt-2, llama-bpe, qwen2 "
          "and smollm",
          where_.c_str(), std::string(vocabulary.split).c_str());
    if (!vocabulary.types.empty() && vocabulary.types.size() != vocabulary.tokens.size())
      return failure(AXLE_MALFORMED, "%s: %zu tokens have %zu types", where_.c_str(),
                     vocabulary.tokens.size(), vocabulary.types.size());
    ByteLevelModel& bytes = use_bytes();
    bytes.rules = split->rules;
    bytes.compose = split->compose;
    if (split->whole_words) bytes.pairs.take_whole_words();
    Result<void> done = read_tokens(vocabulary, bytes.pairs);
    if (done) done = read_merges(vocabulary, bytes.pairs);
    if (!done) return std::unexpected(done.error());
    if (vocabulary.add_begin && vocabulary.begin) prefix().push_back(*vocabulary.begin);
    if (vocabulary.add_end && vocabulary.end) suffix().push_back(*vocabulary.end);
    return std::move(tokenizer_);
  }

 private:
  Result<void> read_tokens(const GgufVocabulary& vocabulary, BytePairs& pairs) {
    for (std::size_t i = 0; i < vocabulary.tokens.size(); ++i) {
      const std::int64_t type = vocabulary.types.empty() ? 1 : vocabulary.types[i];
      const bool whole = type == control_type || type == added_type;
      const std::string_view written = vocabulary.tokens[i];
      std::string text = whole ? std::string(written) : bytes_of_token(written);
      if (whole) {
        added().add({.id = static_cast<std::int32_t>(i),
                     .text = decode_utf8(written),
                     .special = type == control_type});
      } else {
        pairs.add_token(text, static_cast<std::int32_t>(i));
      }
      const Result<void> added =
          add_text(static_cast<std::int64_t>(i), std::move(text), type == control_type);
      if (!added) return added;
    }
    pairs.finish();
    return {};
  }

  Result<void> read_merges(const GgufVocabulary& vocabulary, BytePairs& pairs) const {
    for (const std::string_view merge : vocabulary.merges) {
      const std::size_t space = merge.find(' ', 1);
      if (space == std::string_view::npos)
        return failure(AXLE_MALFORMED, "%s: the merge \"%s\" has no space", where_.c_str(),
                       std::string(merge).c_str());
      const Result<void> added =
          pairs.add_merge(merge.substr(0, space), merge.substr(space + 1), where_);
      if (!added) return added;
    }
    return {};
  }
};

}  // namespace

Result<Tokenizer> Tokenizer::from_gguf(const GgufVocabulary& vocabulary, const std::string& where) {
  return GgufReader(where).read(vocabulary);
}

}  // namespace axle::runtime
