#pragma once
// What a GGUF file says of its tokenizer ("tokenizer.ggml.…").

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "runtime/files/gguf.h"
#include "runtime/result.h"
#include "runtime/tokenizer/text_split.h"

namespace axle::runtime {

/// Numbers of "tokenizer.ggml.token_type".
namespace gguf_token {
enum Type : std::int64_t { normal = 1, unknown = 2, control = 3, user_defined = 4 };
}  // namespace gguf_token

/// How "tokenizer.ggml.pre" splits a text into words.
struct NamedSplit {
  std::string_view name;
  SplitRule rules[2];
  std::size_t count;
  bool whole_words;
  bool compose;  ///< NFC
};

/// Null for a name that is not known.
[[nodiscard]] const NamedSplit* find_split(std::string_view name);

/// The texts lie in the file's metadata.
struct GgufVocabulary {
  std::string_view model;  ///< "gpt2" or "bert"
  std::string_view split;  ///< "pre": "smollm", "llama-bpe", …
  std::vector<std::string_view> tokens;
  std::vector<std::int64_t> types;  ///< one a token, or none: 1 normal, 3 control, 4 added, …
  std::vector<std::string_view> merges;
  std::optional<std::int32_t> begin;  ///< a token to put before a text, where it is wanted
  std::optional<std::int32_t> end;
  std::optional<std::int32_t> unknown;
  std::optional<std::int32_t> first;      ///< "cls_token_id" of BERT
  std::optional<std::int32_t> separator;  ///< "seperator_token_id" of BERT (spelt so)
  bool add_begin = false;
  bool add_end = false;
};

/// The same byte pair encoding as a tokenizer.json. AXLE_UNSUPPORTED for word pieces, and for what
/// JSON cannot say: a token that is no UTF-8, two of the same text. `where` names the file.
[[nodiscard]] Result<std::string> tokenizer_json(const GgufVocabulary& vocabulary,
                                                 const std::string& where);

/// Keys that are absent, or of another kind, say nothing.
[[nodiscard]] GgufVocabulary read_vocabulary(const GgufFile& file);

}  // namespace axle::runtime
