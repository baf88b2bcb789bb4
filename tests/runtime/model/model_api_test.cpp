// Models through the C interface, as the wheel's library gives it out.
#include <cmath>
#include <cstring>
#include <string>

#include <doctest/doctest.h>
#include <unistd.h>

#include "runtime/axle_runtime.h"
#include "tests/runtime/files/made_file.h"
#include "tests/runtime/model/model_folder.h"
#include "tests/runtime/model/tiny_model.h"

namespace axle::runtime {
namespace {

using namespace testing;

using Tokens = std::vector<std::int32_t>;

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

}  // namespace

TEST_CASE("a model whose file is cut short while it is in use ends in an error, not in a signal") {
  const Folder folder;
  write_model(folder, decoder_config, make_decoder("llama", 21));
  const std::string path = folder.at("model.safetensors");
  const RuntimePtr runtime = open_runtime();
  const ModelPtr model = open_model(*runtime, folder.path(), "a16w8");
  const Tokens tokens = tokens_of(*model, "ab abc");
  REQUIRE(truncate(path.c_str(), 100) == 0);
  const axle_prompt prompt = prompt_of(tokens, 6);
  const axle_prompt* const prompts = &prompt;
  Heard heard{{{}}};
  axle_error error{};
  CHECK(axle_model_generate(model.get(), &prompts, 1, Heard::take, &heard, &error) == AXLE_IO);
  CHECK(std::string(error.message).find("tensor \"model.embed_tokens.weight\"") !=
        std::string::npos);
}

TEST_CASE("so does one whose file is cut short while it is loaded") {
  for (const char* const mode : {"float", "a16w8", "a16w4", "fp8"}) {
    CAPTURE(std::string(mode));
    const Folder folder;
    write_model(folder, encoder_config, make_encoder(5));
    std::string path = folder.at("model.safetensors");
    const RuntimePtr runtime = open_runtime();
    axle_model_options options{};
    options.struct_size = sizeof options;
    options.mode = mode;
    options.context = &path;
    options.on_progress = [](void* context, double) {
      (void)truncate(static_cast<const std::string*>(context)->c_str(), 1000);
    };
    axle_model* model = nullptr;
    axle_error error{};
    CHECK(axle_model_open(runtime.get(), folder.path().c_str(), &options, &model, &error) ==
          AXLE_IO);
    CHECK(model == nullptr);
    CHECK(std::string(error.message).starts_with(path + ": cut short while it was in use, from "));
    CHECK(std::string(error.message).find("tensor \"encoder.layer.1.") != std::string::npos);
  }
}

TEST_CASE("a model answers through the C interface, several prompts as each alone") {
  const Folder folder;
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

namespace {

GenerationPtr begin_generation(axle_model& model, const axle_prompt* const* prompts, size_t count) {
  axle_generation* generation = nullptr;
  axle_error error{};
  REQUIRE_MESSAGE(axle_generation_create(&model, prompts, count, &generation, &error) == AXLE_OK,
                  error.message);
  return GenerationPtr(generation);
}

axle_answer answer_of(axle_generation& generation, size_t prompt) {
  axle_answer answer{};
  answer.struct_size = sizeof answer;
  REQUIRE(axle_generation_answer(&generation, prompt, &answer, nullptr) == AXLE_OK);
  return answer;
}

Tokens tokens_of(const axle_answer& answer) {
  return {answer.tokens, answer.tokens + answer.count};
}

}  // namespace

TEST_CASE("answers step by step are those that come whole, and each can be stopped") {
  const Folder folder;
  write_model(folder, decoder_config, make_decoder("llama", 21));
  const RuntimePtr runtime = open_runtime();
  const ModelPtr model = open_model(*runtime, folder.path(), "a16w8");
  const Tokens first = tokens_of(*model, "ab abc");
  const Tokens second = tokens_of(*model, "c");
  const axle_prompt prompts[] = {prompt_of(first, 6), prompt_of(second, 9), prompt_of(second, 0)};
  const axle_prompt* const all[] = {&prompts[0], &prompts[1], &prompts[2]};
  Heard whole{{{}, {}, {}}};
  axle_error error{};
  REQUIRE(axle_model_generate(model.get(), all, 3, Heard::take, &whole, &error) == AXLE_OK);

  const GenerationPtr generation = begin_generation(*model, all, 3);
  CHECK(answer_of(*generation, 0).ending == AXLE_RUNNING);
  CHECK(answer_of(*generation, 2).ending != AXLE_RUNNING);
  int32_t running = 1;
  std::size_t steps = 0;
  std::string text;
  while (running != 0) {
    REQUIRE(axle_generation_step(generation.get(), &running, &error) == AXLE_OK);
    const axle_answer answer = answer_of(*generation, 1);
    CHECK(answer.text[answer.text_size] == '\0');
    const std::string longer(answer.text, answer.text_size);
    CHECK(longer.starts_with(text));
    text = longer;
    REQUIRE(++steps < 100);
  }
  CHECK(tokens_of(answer_of(*generation, 0)) == whole.tokens[0]);
  CHECK(tokens_of(answer_of(*generation, 1)) == whole.tokens[1]);
  CHECK(answer_of(*generation, 2).count == 0);
  size_t size = 1024;
  std::string expected(size, '\0');
  REQUIRE(axle_model_text(model.get(), whole.tokens[1].data(), whole.tokens[1].size(),
                          expected.data(), &size, &error) == AXLE_OK);
  CHECK(text == expected.substr(0, size));
  REQUIRE(axle_generation_step(generation.get(), &running, &error) == AXLE_OK);
  CHECK(running == 0);

  const GenerationPtr stopped = begin_generation(*model, all, 2);
  REQUIRE(axle_generation_stop(stopped.get(), 0, &error) == AXLE_OK);
  do {
    REQUIRE(axle_generation_step(stopped.get(), &running, &error) == AXLE_OK);
  } while (running != 0);
  CHECK(answer_of(*stopped, 0).ending == AXLE_STOPPED);
  CHECK(answer_of(*stopped, 0).count == 0);
  CHECK(tokens_of(answer_of(*stopped, 1)) == whole.tokens[1]);
}

TEST_CASE("a generation's wrong arguments are errors") {
  const Folder folder;
  write_model(folder, decoder_config, make_decoder("llama", 21));
  const RuntimePtr runtime = open_runtime();
  const ModelPtr model = open_model(*runtime, folder.path(), "a16w8");
  axle_generation* none = nullptr;
  axle_error error{};
  const Tokens empty;
  const axle_prompt prompt = prompt_of(empty, 1);
  const axle_prompt* const prompts[] = {&prompt};
  CHECK(axle_generation_create(model.get(), prompts, 1, &none, &error) == AXLE_BAD_ARGUMENT);
  CHECK(std::string(error.message).find("the prompt is empty") != std::string::npos);
  CHECK(axle_generation_create(nullptr, prompts, 1, &none, &error) == AXLE_BAD_ARGUMENT);
  CHECK(axle_generation_create(model.get(), nullptr, 1, &none, &error) == AXLE_BAD_ARGUMENT);
  CHECK(axle_generation_create(model.get(), prompts, 1, nullptr, &error) == AXLE_BAD_ARGUMENT);
  CHECK(none == nullptr);
  int32_t running = 1;
  CHECK(axle_generation_step(nullptr, &running, &error) == AXLE_BAD_ARGUMENT);
  const GenerationPtr nothing = begin_generation(*model, nullptr, 0);
  CHECK(axle_generation_step(nothing.get(), nullptr, &error) == AXLE_BAD_ARGUMENT);
  CHECK(axle_generation_step(nothing.get(), &running, &error) == AXLE_OK);
  CHECK(running == 0);
  CHECK(axle_generation_stop(nothing.get(), 0, &error) == AXLE_BAD_ARGUMENT);
  axle_answer answer{};
  CHECK(axle_generation_answer(nothing.get(), 0, &answer, &error) == AXLE_BAD_ARGUMENT);
  answer.struct_size = sizeof answer;
  CHECK(axle_generation_answer(nothing.get(), 0, &answer, &error) == AXLE_BAD_ARGUMENT);
  axle_generation_destroy(nullptr);
}

TEST_CASE("an encoder gives vectors through the C interface") {
  const Folder folder;
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
  const Folder folder;
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

TEST_CASE("nothing at all, and bytes that are no text, are taken by the C interface") {
  const Folder folder;
  const Folder encoder_folder;
  write_model(folder, decoder_config, make_decoder("llama", 24));
  write_model(encoder_folder, encoder_config, make_encoder(24));
  const RuntimePtr runtime = open_runtime();
  const ModelPtr model = open_model(*runtime, folder.path(), "a16w8");
  const ModelPtr encoder = open_model(*runtime, encoder_folder.path(), "a16w8");
  axle_error error{};
  Heard heard{{{}}};
  CHECK(axle_model_generate(model.get(), nullptr, 0, Heard::take, &heard, &error) == AXLE_OK);
  CHECK(axle_model_embed(encoder.get(), nullptr, 0, nullptr, &error) == AXLE_OK);
  std::size_t count = 0;
  CHECK(axle_model_tokens(model.get(), "", 1, nullptr, &count, &error) == AXLE_OK);
  CHECK(count == 0);
  std::size_t size = 0;
  CHECK(axle_model_text(model.get(), nullptr, 0, nullptr, &size, &error) == AXLE_OK);
  CHECK(size == 0);
  // No token of the model has these numbers.
  const Tokens strange{-1, INT32_MIN, INT32_MAX, 101};
  size = 0;
  CHECK(axle_model_text(model.get(), strange.data(), strange.size(), nullptr, &size, &error) ==
        AXLE_OK);
  count = 0;
  CHECK(axle_model_tokens(model.get(), "a\xff\xc3", 1, nullptr, &count, &error) ==
        AXLE_BAD_ARGUMENT);
  CHECK(count > 0);
  const axle_prompt* const nowhere[] = {nullptr};
  CHECK(axle_model_generate(model.get(), nowhere, 1, Heard::take, &heard, &error) ==
        AXLE_BAD_ARGUMENT);
  const char* const no_text[] = {nullptr};
  float vector[48];
  CHECK(axle_model_embed(encoder.get(), no_text, 1, vector, &error) == AXLE_BAD_ARGUMENT);
  // As many tokens as one likes: the context ends the answer.
  const Tokens tokens{1, 2};
  axle_prompt prompt = prompt_of(tokens, 1);
  prompt.most_tokens = SIZE_MAX;
  const axle_prompt* const prompts[] = {&prompt};
  CHECK_MESSAGE(
      axle_model_generate(model.get(), prompts, 1, Heard::take, &heard, &error) == AXLE_OK,
      error.message);
  CHECK(heard.tokens[0].size() <= 126);
}

}  // namespace axle::runtime
