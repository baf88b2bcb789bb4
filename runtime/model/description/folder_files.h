#pragma once
// The small files beside the weights of a folder: what ends an answer, how a conversation is
// written, how a text's vectors become one.

#include <optional>
#include <string>
#include <vector>

#include "runtime/model/encoder.h"
#include "runtime/result.h"

namespace axle::runtime {

struct FolderGeneration {
  std::vector<std::int32_t> end_tokens;      ///< of generation_config.json
  std::optional<std::string> chat_template;  ///< chat_template.jinja, or of tokenizer_config.json
};

/// Files that are absent say nothing; one that is no JSON object is an error.
[[nodiscard]] Result<FolderGeneration> read_generation(const std::string& folder);

/// modules.json and 1_Pooling/config.json of sentence-transformers; without them the mean, of any
/// length.
[[nodiscard]] Result<Pooling> read_pooling(const std::string& folder);

}  // namespace axle::runtime
