// What axle_runtime.h promises of models: structs of any version, what functions that are handed in
// may do, forks, and what errors name.
#include <array>
#include <cmath>
#include <cstring>
#include <string>
#include <thread>
#include <vector>

#include <doctest/doctest.h>
#include <sys/wait.h>
#include <unistd.h>

#include "runtime/axle_runtime.h"
#include "tests/runtime/model/model_folder.h"

namespace axle::runtime {
namespace {

using testing::GenerationPtr;
using testing::ModelPtr;
using testing::prompt_of;
using testing::RuntimePtr;
using Tokens = std::vector<std::int32_t>;

struct Opened {
  explicit Opened(bool encoder = false) {
    if (encoder) {
      testing::write_model(folder, testing::encoder_config, make_encoder(31));
    } else {
      testing::write_model(folder, testing::decoder_config, make_decoder("llama", 31));
    }
    runtime = testing::open_runtime(1);
    model = testing::open_model(*runtime, folder.path(), "a16w8");
  }

  testing::Folder folder;
  RuntimePtr runtime;
  ModelPtr model;
};

GenerationPtr begin(axle_model& model, const axle_prompt& prompt) {
  const axle_prompt* const prompts[] = {&prompt};
  axle_generation* generation = nullptr;
  axle_error error{};
  REQUIRE_MESSAGE(axle_generation_create(&model, prompts, 1, &generation, &error) == AXLE_OK,
                  error.message);
  return GenerationPtr(generation);
}

Tokens answer(axle_model& model, const axle_prompt& prompt) {
  const axle_prompt* const prompts[] = {&prompt};
  Tokens tokens;
  axle_error error{};
  const auto take = [](void* context, size_t, int32_t token) -> int32_t {
    static_cast<Tokens*>(context)->push_back(token);
    return 1;
  };
  CHECK_MESSAGE(axle_model_generate(&model, prompts, 1, take, &tokens, &error) == AXLE_OK,
                error.message);
  CHECK(error.status == AXLE_OK);
  return tokens;
}

std::string refusal(axle_model& model, const axle_prompt* const* prompts, size_t count) {
  axle_generation* generation = nullptr;
  axle_error error{};
  CHECK(axle_generation_create(&model, prompts, count, &generation, &error) == AXLE_BAD_ARGUMENT);
  return error.message;
}

}  // namespace

TEST_CASE("model: an empty path is refused, and of a long one the reason is told") {
  const RuntimePtr runtime = testing::open_runtime(1);
  axle_model* model = nullptr;
  axle_error error{};
  CHECK(axle_model_open(runtime.get(), "", nullptr, &model, &error) == AXLE_BAD_ARGUMENT);
  CHECK(std::string(error.message).starts_with("the path of the model is empty"));
  const testing::Folder folder;
  std::string path = folder.path();
  for (int i = 0; i < 10; ++i) path += "/" + std::string(100, 'd');
  CHECK(axle_model_open(runtime.get(), (path + "/model").c_str(), nullptr, &model, &error) ==
        AXLE_IO);
  const std::string message = error.message;
  CHECK(message.starts_with(folder.path().substr(0, 5)));
  CHECK(message.find("d/model") != std::string::npos);
  CHECK(message.find("No such file") != std::string::npos);
}

TEST_CASE("model: structs are taken from their first size on, and what is wrong is named") {
  const Opened opened;
  axle_error error{};
  axle_model_options options{};
  options.struct_size = 39;
  axle_model* model = nullptr;
  CHECK(axle_model_open(opened.runtime.get(), opened.folder.path().c_str(), &options, &model,
                        &error) == AXLE_BAD_ARGUMENT);
  CHECK(std::string(error.message).starts_with("options: struct_size is 39; axle_model_options"));

  const Tokens tokens{1, 2};
  const axle_prompt right = prompt_of(tokens, 4);
  axle_prompt wrong = right;
  const axle_prompt* const two[] = {&right, &wrong};
  wrong.struct_size = 71;
  CHECK(refusal(*opened.model, two, 2).starts_with("prompt 1: struct_size is 71; axle_prompt"));
  const axle_prompt* const without[] = {&right, nullptr};
  CHECK(refusal(*opened.model, without, 2) == "prompt 1 is NULL");
  wrong = right;
  wrong.tokens = nullptr;
  CHECK(refusal(*opened.model, two, 2) == "prompt 1: tokens is NULL and count 2");
  wrong = right;
  wrong.temperature = NAN;
  CHECK(refusal(*opened.model, two, 2) == "prompt 1: temperature is nan; it must be 0 or more");
  wrong = right;
  wrong.top_p = 1.5;
  CHECK(refusal(*opened.model, two, 2) == "prompt 1: top_p is 1.5; it must be 0 to 1");
  wrong = right;
  wrong.min_p = -1;
  CHECK(refusal(*opened.model, &two[1], 1) == "the prompt: min_p is -1; it must be 0 to 1");

  struct {
    axle_prompt known;
    std::uint64_t later;
  } newer{right, 0};
  newer.known.struct_size = sizeof newer;
  const GenerationPtr generation = begin(*opened.model, newer.known);
  struct {
    axle_answer known;
    std::uint64_t later;
  } place{{}, 77};
  place.known.struct_size = 47;
  CHECK(axle_generation_answer(generation.get(), 0, &place.known, &error) == AXLE_BAD_ARGUMENT);
  CHECK(std::string(error.message).starts_with("answer: struct_size is 47; axle_answer"));
  for (const std::size_t size : {sizeof place.known, sizeof place}) {
    place.known.struct_size = size;
    CHECK(axle_generation_answer(generation.get(), 0, &place.known, &error) == AXLE_OK);
    CHECK(error.message[0] == '\0');
    CHECK(place.known.struct_size == size);
    CHECK(place.later == 77);
  }
}

TEST_CASE("model: a prompt whose filters are zero is answered as with all tokens") {
  const Opened opened;
  const Tokens tokens{1, 2, 3};
  axle_prompt all = prompt_of(tokens, 40);
  all.temperature = 3;
  all.seed = 5;
  const Tokens expected = answer(*opened.model, all);
  axle_prompt zero = all;
  zero.top_p = 0;
  CHECK(answer(*opened.model, zero) == expected);
  axle_prompt greedy = all;
  greedy.temperature = 0;
  CHECK(answer(*opened.model, greedy) != expected);
}

TEST_CASE("model: the number of tokens is learnt without room for them") {
  const Opened opened;
  axle_error error{};
  size_t count = 0;
  CHECK(axle_model_tokens(opened.model.get(), "ab abc", 1, nullptr, &count, &error) ==
        AXLE_BAD_ARGUMENT);
  CHECK(count == 2);
  std::int32_t tokens[2];
  CHECK(axle_model_tokens(opened.model.get(), "ab abc", 1, tokens, &count, &error) == AXLE_OK);
  // Another error leaves the count: it is not larger than the room.
  CHECK(axle_model_tokens(opened.model.get(), nullptr, 1, tokens, &count, &error) ==
        AXLE_BAD_ARGUMENT);
  CHECK(count == 2);
  CHECK(axle_model_tokens(opened.model.get(), "ab", 0, tokens, &count, &error) == AXLE_UNSUPPORTED);
  CHECK(count == 2);
  CHECK(std::string(error.message).find("raw (`--raw` of the program)") != std::string::npos);
}

TEST_CASE("model: texts are counted from 0, as prompts are") {
  const Opened opened(true);
  std::string longest;
  for (int i = 0; i < 70; ++i) longest += "a ";
  const char* texts[] = {"abc", longest.c_str()};
  std::vector<float> vectors(2 * 48);
  axle_error error{};
  CHECK(axle_model_embed(opened.model.get(), texts, 2, vectors.data(), &error) ==
        AXLE_BAD_ARGUMENT);
  CHECK(std::string(error.message).find(": text 1 has ") != std::string::npos);
  CHECK(axle_model_embed(opened.model.get(), &texts[1], 1, vectors.data(), &error) ==
        AXLE_BAD_ARGUMENT);
  CHECK(std::string(error.message).find(": the text has ") != std::string::npos);
  texts[1] = nullptr;
  CHECK(axle_model_embed(opened.model.get(), texts, 2, vectors.data(), &error) ==
        AXLE_BAD_ARGUMENT);
  CHECK(std::string(error.message) == "text 1 is NULL");
}

namespace {

/// What a function that takes tokens tries with the model that it is called by.
struct Calls {
  axle_model* model;
  axle_generation* other;
  axle_error generate{};
  axle_error step{};
  axle_error text{};
  std::array<axle_status, 3> statuses{};

  static int32_t never(void*, size_t, int32_t) { return 0; }
  static int32_t take(void* context, size_t, int32_t token) {
    Calls& calls = *static_cast<Calls*>(context);
    const Tokens tokens{1};
    const axle_prompt prompt = prompt_of(tokens, 1);
    const axle_prompt* const prompts[] = {&prompt};
    calls.statuses[0] =
        axle_model_generate(calls.model, prompts, 1, never, nullptr, &calls.generate);
    int32_t running = 0;
    calls.statuses[1] = axle_generation_step(calls.other, &running, &calls.step);
    char text[64];
    size_t size = sizeof text;
    calls.statuses[2] = axle_model_text(calls.model, &token, 1, text, &size, &calls.text);
    return 1;
  }
};

}  // namespace

TEST_CASE("model: a function that takes tokens cannot work on the model they come from") {
  const Opened opened;
  const Tokens tokens{1, 2};
  const axle_prompt prompt = prompt_of(tokens, 3);
  const axle_prompt* const prompts[] = {&prompt};
  const Tokens expected = answer(*opened.model, prompt);
  REQUIRE(!expected.empty());
  const GenerationPtr other = begin(*opened.model, prompt);
  Calls calls{opened.model.get(), other.get()};
  axle_error error{};
  REQUIRE(axle_model_generate(opened.model.get(), prompts, 1, Calls::take, &calls, &error) ==
          AXLE_OK);
  CHECK(calls.statuses ==
        std::array<axle_status, 3>{AXLE_BAD_ARGUMENT, AXLE_BAD_ARGUMENT, AXLE_OK});
  CHECK(std::string(calls.generate.message).find("in use by this thread") != std::string::npos);
  CHECK(std::string(calls.step.message).find("in use by this thread") != std::string::npos);
  // Neither the model nor the other answer was harmed.
  CHECK(answer(*opened.model, prompt) == expected);
  int32_t running = 1;
  while (running != 0) REQUIRE(axle_generation_step(other.get(), &running, &error) == AXLE_OK);
  axle_answer found{};
  found.struct_size = sizeof found;
  REQUIRE(axle_generation_answer(other.get(), 0, &found, &error) == AXLE_OK);
  CHECK(Tokens(found.tokens, found.tokens + found.count) == expected);
}

TEST_CASE("model: threads that work on one model wait for each other") {
  const Opened opened;
  const Tokens tokens{1, 2};
  const axle_prompt prompt = prompt_of(tokens, 8);
  const Tokens expected = answer(*opened.model, prompt);
  std::array<Tokens, 4> found;
  std::vector<std::jthread> threads;
  for (Tokens& own : found) {
    threads.emplace_back([&] {
      for (int i = 0; i < 5; ++i) own = answer(*opened.model, prompt);
    });
  }
  threads.clear();
  for (const Tokens& own : found) CHECK(own == expected);
}

namespace {

/// Where a function that takes tokens waits until it may go on.
struct Gate {
  int reached[2];
  int passed[2];

  Gate() { REQUIRE((pipe(reached) == 0 && pipe(passed) == 0)); }
  Gate(const Gate&) = delete;
  Gate& operator=(const Gate&) = delete;
  ~Gate() {
    for (const int end : {reached[0], reached[1], passed[0], passed[1]}) close(end);
  }
  static int32_t take(void* context, size_t, int32_t) {
    const Gate& gate = *static_cast<Gate*>(context);
    char byte = 'x';
    if (write(gate.reached[1], &byte, 1) == 1 && read(gate.passed[0], &byte, 1) == 1) return 0;
    return 0;
  }
};

/// The status of an answer in a child, 99 where it hangs.
int status_in_child(axle_model& model, const axle_prompt& prompt) {
  const axle_prompt* const prompts[] = {&prompt};
  const pid_t child = fork();
  if (child == 0) {
    alarm(20);
    axle_error error{};
    const axle_status status =
        axle_model_generate(&model, prompts, 1, Calls::never, nullptr, &error);
    const bool told = status == AXLE_OK || std::strstr(error.message, "forked") != nullptr;
    _exit(told ? status : 98);
  }
  int status = 0;
  waitpid(child, &status, 0);
  return WIFEXITED(status) ? WEXITSTATUS(status) : 99;
}

}  // namespace

TEST_CASE("model: a child of a fork works on a model, unless that was in use") {
  const Opened opened;
  const Tokens tokens{1, 2};
  const axle_prompt prompt = prompt_of(tokens, 3);
  const axle_prompt* const prompts[] = {&prompt};
  const Tokens expected = answer(*opened.model, prompt);
  REQUIRE(!expected.empty());
  CHECK(status_in_child(*opened.model, prompt) == AXLE_OK);
  {
    Gate gate;
    const std::jthread user(
        [&] { axle_model_generate(opened.model.get(), prompts, 1, Gate::take, &gate, nullptr); });
    char byte = 0;
    REQUIRE(read(gate.reached[0], &byte, 1) == 1);
    CHECK(status_in_child(*opened.model, prompt) == AXLE_BAD_ARGUMENT);
    REQUIRE(write(gate.passed[1], &byte, 1) == 1);
  }
  CHECK(answer(*opened.model, prompt) == expected);
  CHECK(status_in_child(*opened.model, prompt) == AXLE_OK);
}

}  // namespace axle::runtime
