#include "tests/runtime/model/model_folder.h"

#include <doctest/doctest.h>

#include "runtime/files/safetensors_writer.h"
#include "tests/runtime/tokenizer/made_tokenizer.h"

namespace axle::runtime::testing {

const char* const decoder_config = R"({"model_type": "llama", "hidden_size": 64,
  "num_hidden_layers": 2, "num_attention_heads": 4, "num_key_value_heads": 2, "intermediate_size": 176,
  "vocab_size": 101, "max_position_embeddings": 128, "rms_norm_eps": 1e-5, "rope_theta": 10000,
  "hidden_act": "silu", "tie_word_embeddings": false, "eos_token_id": 20})";
const char* const encoder_config = R"({"model_type": "bert", "hidden_size": 48,
  "num_hidden_layers": 2, "num_attention_heads": 3, "intermediate_size": 96, "vocab_size": 61,
  "max_position_embeddings": 64, "type_vocab_size": 2, "layer_norm_eps": 1e-12, "hidden_act": "gelu"})";
const char* const reranker_config = R"({"model_type": "bert", "hidden_size": 48,
  "architectures": ["BertForSequenceClassification"], "id2label": {"0": "LABEL_0"},
  "num_hidden_layers": 2, "num_attention_heads": 3, "intermediate_size": 96, "vocab_size": 61,
  "max_position_embeddings": 64, "type_vocab_size": 2, "layer_norm_eps": 1e-12, "hidden_act": "gelu"})";

void write_model(const Folder& folder, const char* config, const TinyModel& model) {
  folder.write("config.json", config);
  MadeJson tokenizer;
  tokenizer.post_processor =
      R"({"type":"TemplateProcessing","single":[{"Sequence":{"id":"A","type_id":0}}],"pair":[)"
      R"({"Sequence":{"id":"A","type_id":0}},{"Sequence":{"id":"B","type_id":1}}],)"
      R"("special_tokens":{}})";
  folder.write("tokenizer.json", tokenizer.text());
  std::vector<TensorToWrite> tensors;
  for (const Tensor& tensor : model.tensors.tensors()) tensors.push_back(copy_of(tensor));
  const Result<void> written = write_safetensors(folder.at("model.safetensors"), tensors, {});
  REQUIRE_MESSAGE(written.has_value(), written.error().message);
}

RuntimePtr open_runtime(std::int32_t threads) {
  axle_runtime_options options{};
  options.struct_size = sizeof options;
  options.threads = threads;
  axle_runtime* runtime = nullptr;
  REQUIRE(axle_runtime_create(&options, &runtime, nullptr) == AXLE_OK);
  return RuntimePtr(runtime);
}

ModelPtr open_model(axle_runtime& runtime, const std::string& path, const char* mode) {
  axle_model_options options{};
  options.struct_size = sizeof options;
  options.mode = mode;
  axle_model* model = nullptr;
  axle_error error{};
  REQUIRE_MESSAGE(axle_model_open(&runtime, path.c_str(), &options, &model, &error) == AXLE_OK,
                  error.message);
  return ModelPtr(model);
}

axle_prompt prompt_of(const std::vector<std::int32_t>& tokens, std::size_t most) {
  axle_prompt prompt{};
  prompt.struct_size = sizeof prompt;
  prompt.tokens = tokens.data();
  prompt.count = tokens.size();
  prompt.most_tokens = most;
  prompt.top_p = 1;
  return prompt;
}

}  // namespace axle::runtime::testing
