#pragma once
// What a GGUF file says of its tokenizer ("tokenizer.ggml.…").

#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "runtime/files/gguf.h"

namespace axle::runtime {

/// The texts lie in the file's mapping.
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

/// Keys that are absent, or of another kind, say nothing.
[[nodiscard]] GgufVocabulary read_vocabulary(const GgufFile& file);

}  // namespace axle::runtime
