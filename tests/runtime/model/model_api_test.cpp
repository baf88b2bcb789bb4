// Models through the C interface, as the wheel's library gives it out.
#include <cmath>
#include <cstring>
#include <memory>
#include <string>

#include <doctest/doctest.h>

#include "runtime/axle_runtime.h"
#include "runtime/files/safetensors_writer.h"
#include "tests/runtime/files/made_file.h"
#include "tests/runtime/model/tiny_model.h"
#include "tests/runtime/tokenizer/made_tokenizer.h"

namespace axle::runtime {
namespace {

using Tokens = std::vector<std::int32_t>;

struct DestroyRuntime {
  void operator()(axle_runtime* runtime) const { axle_runtime_destroy(runtime); }
};
struct DestroyModel {
  void operator()(axle_model* model) const { axle_model_destroy(model); }
};
using RuntimePtr = std::unique_ptr<axle_runtime, DestroyRuntime>;
using ModelPtr = std::unique_ptr<axle_model, DestroyModel>;

constexpr const char* decoder_config = R"({"model_type": "llama", "hidden_size": 64,
  "num_hidden_layers": 2, "num_attention_heads": 4, "num_key_value_heads": 2, "intermediate_size": 176,
  "vocab_size": 101, "max_position_embeddings": 128, "rms_norm_eps": 1e-5, "rope_theta": 10000,
  "hidden_act": "silu", "tie_word_embeddings": false, "eos_token_id": 20})";
constexpr const char* encoder_config = R"({"model_type": "bert", "hidden_size": 48,
  "num_hidden_layers": 2, "num_attention_heads": 3, "intermediate_size": 96, "vocab_size": 61,
  "max_position_embeddings": 64, "type_vocab_size": 2, "layer_norm_eps": 1e-12, "hidden_act": "gelu"})";

void write_model(const testing::Folder& folder, const char* config, const TinyModel& model) {
  folder.write("config.json", config);
  folder.write("tokenizer.json", testing::MadeJson().text());
  std::vector<TensorToWrite> tensors;
  for (const Tensor& tensor : model.tensors.tensors()) tensors.push_back(copy_of(tensor));
  const Result<void> written = write_safetensors(folder.at("model.safetensors"), tensors, {});
  REQUIRE_MESSAGE(written.has_value(), written.error().message);
}

RuntimePtr open_runtime() {
  axle_runtime* runtime = nullptr;
  REQUIRE(axle_runtime_create(nullptr, &runtime, nullptr) == AXLE_OK);
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

Tokens tokens_of(axle_model& model, const char* text) {
  size_t count = 0;
  CHECK(axle_model_tokens(&model, text, 1, nullptr, &count, nullptr) == AXLE_BAD_ARGUMENT);
  Tokens tokens(count);
  REQUIRE(axle_model_tokens(&model, text, 1, tokens.data(), &count, nullptr) == AXLE_OK);
  return tokens;
}

/// What comes to on_token, by prompt.
struct Heard {
  std::vector<Tokens> tokens;
  std::size_t stop_after = 1000;

  static int32_t take(void* context, size_t prompt, int32_t token) {
    Heard& heard = *static_cast<Heard*>(context);
    heard.tokens[prompt].push_back(token);
    return heard.tokens[prompt].size() < heard.stop_after ? 1 : 0;
  }
};

axle_prompt prompt_of(const Tokens& tokens, std::size_t most) {
  axle_prompt prompt{};
  prompt.struct_size = sizeof prompt;
  prompt.tokens = tokens.data();
  prompt.count = tokens.size();
  prompt.most_tokens = most;
  prompt.top_p = 1;
  return prompt;
}

}  // namespace

TEST_CASE("a model answers through the C interface, several prompts as each alone") {
  const testing::Folder folder;
  write_model(folder, decoder_config, make_decoder("llama", 21));
  const RuntimePtr runtime = open_runtime();
  const ModelPtr model = open_model(*runtime, folder.path(), "a16w8");
  const char* key = nullptr;
  char value[64];
  REQUIRE(axle_model_info(model.get(), 0, &key, value, sizeof value) == AXLE_OK);
  CHECK(std::string(key) + "=" + value == "type=llama");
  CHECK(axle_model_info(model.get(), 99, &key, value, sizeof value) == AXLE_BAD_ARGUMENT);
  REQUIRE(axle_model_info(model.get(), 7, &key, value, sizeof value) == AXLE_OK);
  CHECK(std::string(key) == "weight_bytes");
  CHECK(std::stoul(value) > 0);
  REQUIRE(axle_model_info(model.get(), 8, &key, value, sizeof value) == AXLE_OK);
  // 2 layers of 2 heads, keys and values of 16 positions in float16.
  CHECK(std::string(key) + "=" + value ==
        "cache_bytes=" +
            std::to_string(2 * 2 * 2 * 16 * make_decoder("llama", 21).shape.head_depth * 2));

  const Tokens first = tokens_of(*model, "ab abc");
  CHECK(first == Tokens{4, 12});
  const Tokens second = tokens_of(*model, "c");
  const axle_prompt prompts[] = {prompt_of(first, 6), prompt_of(second, 9)};
  const axle_prompt* const both[] = {&prompts[0], &prompts[1]};
  Heard together{{{}, {}}};
  axle_error error{};
  REQUIRE_MESSAGE(
      axle_model_generate(model.get(), both, 2, Heard::take, &together, &error) == AXLE_OK,
      error.message);
  CHECK(together.tokens[0].size() <= 6);
  CHECK(!together.tokens[1].empty());
  Heard alone{{{}}};
  REQUIRE(axle_model_generate(model.get(), &both[1], 1, Heard::take, &alone, &error) == AXLE_OK);
  CHECK(alone.tokens[0] == together.tokens[1]);
  Heard stopped{{{}}, 1};
  REQUIRE(axle_model_generate(model.get(), &both[1], 1, Heard::take, &stopped, &error) == AXLE_OK);
  CHECK(stopped.tokens[0].size() == 1);

  size_t size = 0;
  CHECK(axle_model_text(model.get(), first.data(), first.size(), nullptr, &size, &error) ==
        AXLE_BAD_ARGUMENT);
  std::string text(size, '\0');
  REQUIRE(axle_model_text(model.get(), first.data(), first.size(), text.data(), &size, &error) ==
          AXLE_OK);
  CHECK(text == "ab abc");
}

TEST_CASE("an encoder gives vectors through the C interface") {
  const testing::Folder folder;
  write_model(folder, encoder_config, make_encoder(22));
  const RuntimePtr runtime = open_runtime();
  const ModelPtr model = open_model(*runtime, folder.path(), "float");
  const char* const texts[] = {"abc", "c ab"};
  std::vector<float> vectors(2 * 48, NAN);
  axle_error error{};
  REQUIRE_MESSAGE(axle_model_embed(model.get(), texts, 2, vectors.data(), &error) == AXLE_OK,
                  error.message);
  std::vector<float> second(48);
  REQUIRE(axle_model_embed(model.get(), &texts[1], 1, second.data(), &error) == AXLE_OK);
  CHECK(std::memcmp(second.data(), vectors.data() + 48, 48 * sizeof(float)) == 0);
  CHECK(std::memcmp(vectors.data(), vectors.data() + 48, 48 * sizeof(float)) != 0);
  const Tokens tokens{1};
  const axle_prompt prompt = prompt_of(tokens, 1);
  const axle_prompt* const prompts[] = {&prompt};
  Heard heard{{{}}};
  CHECK(axle_model_generate(model.get(), prompts, 1, Heard::take, &heard, &error) ==
        AXLE_UNSUPPORTED);
}

TEST_CASE("what is missing or wrong is an error of the C interface, and harms nothing") {
  const testing::Folder folder;
  const RuntimePtr runtime = open_runtime();
  axle_model* model = nullptr;
  axle_error error{};
  CHECK(axle_model_open(runtime.get(), folder.at("nothing").c_str(), nullptr, &model, &error) ==
        AXLE_IO);
  CHECK(std::string(error.message).find("nothing") != std::string::npos);
  CHECK(model == nullptr);
  CHECK(axle_model_open(nullptr, "x", nullptr, &model, &error) == AXLE_BAD_ARGUMENT);
  CHECK(axle_model_open(runtime.get(), nullptr, nullptr, &model, &error) == AXLE_BAD_ARGUMENT);
  CHECK(axle_model_open(runtime.get(), "x", nullptr, nullptr, &error) == AXLE_BAD_ARGUMENT);
  write_model(folder, decoder_config, make_decoder("llama", 23));
  axle_model_options options{};
  CHECK(axle_model_open(runtime.get(), folder.path().c_str(), &options, &model, &error) ==
        AXLE_BAD_ARGUMENT);
  options.struct_size = sizeof options;
  options.mode = "a3w3";
  CHECK(axle_model_open(runtime.get(), folder.path().c_str(), &options, &model, &error) ==
        AXLE_BAD_ARGUMENT);
  options.mode = nullptr;
  options.kv_cache = "int3";
  CHECK(axle_model_open(runtime.get(), folder.path().c_str(), &options, &model, &error) ==
        AXLE_BAD_ARGUMENT);
  const ModelPtr opened = open_model(*runtime, folder.path(), nullptr);
  const Tokens outside{101};
  axle_prompt prompt = prompt_of(outside, 1);
  const axle_prompt* const prompts[] = {&prompt};
  Heard heard{{{}}};
  CHECK(axle_model_generate(opened.get(), prompts, 1, Heard::take, &heard, &error) ==
        AXLE_BAD_ARGUMENT);
  CHECK(axle_model_generate(opened.get(), prompts, 1, nullptr, nullptr, &error) ==
        AXLE_BAD_ARGUMENT);
  prompt.temperature = -1;
  CHECK(axle_model_generate(opened.get(), prompts, 1, Heard::take, &heard, &error) ==
        AXLE_BAD_ARGUMENT);
  float vectors[64];
  const char* const texts[] = {"a"};
  CHECK(axle_model_embed(opened.get(), texts, 1, vectors, &error) == AXLE_UNSUPPORTED);
  axle_model_destroy(nullptr);
}

}  // namespace axle::runtime
