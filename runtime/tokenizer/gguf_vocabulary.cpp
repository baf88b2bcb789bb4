#include "runtime/tokenizer/gguf_vocabulary.h"

#include <string>

namespace axle::runtime {
namespace {

std::optional<std::int32_t> token_id(const GgufFile& file, const char* name) {
  const std::optional<std::uint64_t> id = file.count(std::string("tokenizer.ggml.") + name);
  if (!id || *id > INT32_MAX) return std::nullopt;
  return static_cast<std::int32_t>(*id);
}

}  // namespace

GgufVocabulary read_vocabulary(const GgufFile& file) {
  GgufVocabulary vocabulary;
  vocabulary.model = file.text("tokenizer.ggml.model").value_or("");
  vocabulary.split = file.text("tokenizer.ggml.pre").value_or("");
  vocabulary.tokens = file.texts("tokenizer.ggml.tokens").value_or(std::vector<std::string_view>());
  vocabulary.types =
      file.integers("tokenizer.ggml.token_type").value_or(std::vector<std::int64_t>());
  vocabulary.merges = file.texts("tokenizer.ggml.merges").value_or(std::vector<std::string_view>());
  vocabulary.begin = token_id(file, "bos_token_id");
  vocabulary.end = token_id(file, "eos_token_id");
  vocabulary.unknown = token_id(file, "unknown_token_id");
  vocabulary.first = token_id(file, "cls_token_id");
  vocabulary.separator = token_id(file, "seperator_token_id");
  // llama.cpp puts the first token of these before a text even where the file does not ask for it.
  const bool by_habit = vocabulary.split == "llama-bpe" || vocabulary.split == "llama3" ||
                        vocabulary.split == "llama-v3" || vocabulary.split == "tekken";
  vocabulary.add_begin = file.flag("tokenizer.ggml.add_bos_token").value_or(by_habit);
  vocabulary.add_end = file.flag("tokenizer.ggml.add_eos_token").value_or(false);
  return vocabulary;
}

}  // namespace axle::runtime
