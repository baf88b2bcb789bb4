// Memory that ends anywhere: an error, and all goes on once there is some again.
#include <cstdio>
#include <cstring>
#include <functional>

#include <doctest/doctest.h>

#include "runtime/model/generation.h"
#include "runtime/model/quantization/quantize.h"
#include "tests/runtime/failing_memory.h"
#include "tests/runtime/model/model_folder.h"

namespace axle::runtime {
namespace {

using namespace testing;
using Tokens = std::vector<std::int32_t>;

/// Of which each token that is picked allocates something.
Prompt sampled(std::uint64_t seed) {
  return {.tokens = {static_cast<std::int32_t>(seed % 100), 1},
          .most_tokens = 5,
          .sampling = {.temperature = 0.8, .top_k = 1, .top_p = 1, .min_p = 0, .seed = seed}};
}

}  // namespace

TEST_CASE("threads of the pool that have no memory to pick tokens give an error") {
  Engine engine(3);
  REQUIRE(engine.choose_kernels(nullptr, nullptr) == AXLE_OK);
  const TinyModel model = make_decoder("llama", 31);
  Result<Decoder> decoder =
      Decoder::load(engine, model.shape, model.tensors, *find_mode("a16w8"), {});
  REQUIRE(decoder.has_value());
  // So many that picking among 101 tokens each is worth waking the threads.
  std::vector<Prompt> prompts;
  for (std::uint64_t i = 0; i < 400; ++i) prompts.push_back(sampled(i));
  const auto expected = generate(*decoder, CacheForm::float16, prompts, {});
  REQUIRE(expected.has_value());

  Result<Generation> generation = Generation::begin(*decoder, CacheForm::float16, prompts);
  REQUIRE(generation.has_value());
  // Until nothing else has to grow.
  while (generation->answer(prompts.size() - 1).tokens.size() < 2)
    REQUIRE(generation->step({}).has_value());
  Result<void> done;
  std::size_t failed = 0;
  {
    const FailingMemory failing(FailingMemory::From::other_threads, 0);
    done = generation->step({});
    failed = failing.failed();
  }
  CHECK(failed > 0);
  REQUIRE(!done.has_value());
  CHECK(done.error().status == AXLE_NO_MEMORY);
  CHECK(done.error().message == "tiny model: no memory to choose among 101 tokens");
  CHECK(!generation->is_running());

  const auto again = generate(*decoder, CacheForm::float16, prompts, {});
  REQUIRE(again.has_value());
  for (std::size_t i = 0; i < prompts.size(); ++i)
    CHECK((*again)[i].tokens == (*expected)[i].tokens);
}

namespace {

struct Outcome {
  axle_status status = AXLE_OK;
  axle_error error{};
};

/// `call` with every allocation, or about `most` of them, failing in turn: alone, and with all that
/// follow. Each time it ends well, or without memory; and so it does at last.
void fail_everywhere(const std::function<Outcome()>& call, std::size_t most = 200) {
  std::size_t all = 0;
  {
    const FailingMemory counting(FailingMemory::From::one, std::size_t{1} << 40U);
    const Outcome outcome = call();
    all = counting.succeeded();
    if (outcome.status != AXLE_OK) all = 0;
  }
  REQUIRE(all > 0);
  CAPTURE(all);
  const std::size_t stride = all / most + 1;
  std::size_t refused = 0;
  for (const auto from : {FailingMemory::From::one, FailingMemory::From::all_later}) {
    for (std::size_t after = 0; after < all; after += stride) {
      Outcome outcome;
      {
        const FailingMemory failing(from, after);
        outcome = call();
      }
      if (outcome.status == AXLE_OK) continue;
      ++refused;
      CAPTURE(after);
      REQUIRE_MESSAGE(outcome.status == AXLE_NO_MEMORY, outcome.error.message);
      REQUIRE(std::strstr(outcome.error.message, "memory") != nullptr);
    }
  }
  CHECK(refused > 0);
  CHECK(call().status == AXLE_OK);
}

template <class Work>
Outcome outcome_of(const Work& work) {
  const Result<void> result = caught(work);
  Outcome outcome{result ? AXLE_OK : result.error().status, {}};
  std::snprintf(outcome.error.message, sizeof outcome.error.message, "%s",
                result ? "" : result.error().message.c_str());
  return outcome;
}

Outcome open_and_destroy(axle_runtime& runtime, const std::string& path, const char* mode) {
  axle_model_options options{};
  options.struct_size = sizeof options;
  options.mode = mode;
  Outcome outcome;
  axle_model* model = nullptr;
  outcome.status = axle_model_open(&runtime, path.c_str(), &options, &model, &outcome.error);
  axle_model_destroy(model);
  return outcome;
}

}  // namespace

TEST_CASE("a model is opened, or there is no memory, wherever it ends") {
  const RuntimePtr runtime = open_runtime(2);
  for (const bool is_decoder : {true, false}) {
    CAPTURE(is_decoder);
    const Folder folder;
    if (is_decoder) {
      write_model(folder, decoder_config, make_decoder("llama", 32));
    } else {
      write_model(folder, encoder_config, make_encoder(32));
    }
    for (const char* const mode : {"float", "a16w4"})
      fail_everywhere([&] { return open_and_destroy(*runtime, folder.path(), mode); }, 100);
  }
}

TEST_CASE("answers come, or there is no memory, wherever it ends") {
  const Folder folder;
  write_model(folder, decoder_config, make_decoder("llama", 33));
  const RuntimePtr runtime = open_runtime(2);
  const ModelPtr model = open_model(*runtime, folder.path(), "a16w8");
  const Tokens tokens{1, 2, 3, 4};
  axle_prompt prompts[3] = {prompt_of(tokens, 20), prompt_of(tokens, 25), prompt_of(tokens, 5)};
  prompts[1].temperature = prompts[2].temperature = 0.9;
  prompts[1].top_p = 0.9;
  prompts[2].top_k = 10;
  const axle_prompt* const all[] = {&prompts[0], &prompts[1], &prompts[2]};
  const auto drop = [](void*, size_t, int32_t) -> int32_t { return 1; };
  fail_everywhere([&] {
    Outcome outcome;
    outcome.status = axle_model_generate(model.get(), all, 3, drop, nullptr, &outcome.error);
    return outcome;
  });
  fail_everywhere([&] {
    Outcome outcome;
    axle_generation* generation = nullptr;
    outcome.status = axle_generation_create(model.get(), all, 3, &generation, &outcome.error);
    for (int32_t running = 1; outcome.status == AXLE_OK && running != 0;) {
      outcome.status = axle_generation_step(generation, &running, &outcome.error);
      axle_answer answer{};
      answer.struct_size = sizeof answer;
      if (outcome.status == AXLE_OK)
        outcome.status = axle_generation_answer(generation, 1, &answer, &outcome.error);
    }
    axle_generation_destroy(generation);
    return outcome;
  });
  fail_everywhere([&] {
    Outcome outcome;
    int32_t found[64];
    size_t count = 64;
    const char* const text = "ab abc bc and more of it \xc3\xa9";
    outcome.status = axle_model_tokens(model.get(), text, 1, found, &count, &outcome.error);
    char written[256];
    size_t size = sizeof written;
    if (outcome.status == AXLE_OK)
      outcome.status = axle_model_text(model.get(), found, count, written, &size, &outcome.error);
    return outcome;
  });
}

TEST_CASE("vectors come, or there is no memory, wherever it ends") {
  const Folder folder;
  write_model(folder, encoder_config, make_encoder(34));
  const RuntimePtr runtime = open_runtime(2);
  const ModelPtr model = open_model(*runtime, folder.path(), "a16w8");
  const char* const texts[] = {"ab abc", "c", "bc ab c"};
  fail_everywhere([&] {
    Outcome outcome;
    float vectors[3 * 48];
    outcome.status = axle_model_embed(model.get(), texts, 3, vectors, &outcome.error);
    return outcome;
  });
}

TEST_CASE("scores come, or there is no memory, wherever it ends") {
  const Folder folder;
  write_model(folder, reranker_config, make_reranker(37));
  const RuntimePtr runtime = open_runtime(2);
  fail_everywhere([&] { return open_and_destroy(*runtime, folder.path(), "float"); }, 100);
  const ModelPtr model = open_model(*runtime, folder.path(), "a16w8");
  const char* const texts[] = {"ab abc", "c", "bc ab c"};
  fail_everywhere([&] {
    Outcome outcome;
    float scores[3];
    outcome.status = axle_model_rerank(model.get(), "abc c", texts, 3, scores, &outcome.error);
    return outcome;
  });
}

TEST_CASE("a function of the caller's that throws is an error, whatever it throws") {
  const Folder folder;
  write_model(folder, decoder_config, make_decoder("llama", 35));
  const RuntimePtr runtime = open_runtime(2);
  const ModelPtr model = open_model(*runtime, folder.path(), "a16w8");
  const Tokens tokens{1, 2};
  const axle_prompt prompt = prompt_of(tokens, 3);
  const axle_prompt* const prompts = &prompt;
  const auto throws = [](void*, size_t, int32_t) -> int32_t { throw 7; };
  axle_error error{};
  CHECK(axle_model_generate(model.get(), &prompts, 1, throws, nullptr, &error) ==
        AXLE_BAD_ARGUMENT);
  CHECK(std::string(error.message) == folder.path() + ": a function of the caller's threw");
}

TEST_CASE("weights are rounded, or there is no memory, wherever it ends") {
  const Folder folder;
  write_model(folder, decoder_config, make_decoder("llama", 36));
  Engine engine(2);
  REQUIRE(engine.choose_kernels(nullptr, nullptr) == AXLE_OK);
  const Result<Model> model = Model::open(folder.path());
  REQUIRE(model.has_value());
  Tokens text;
  for (std::int32_t i = 0; i < 40; ++i) text.push_back(i * 7 % 101);
  for (const ScaleMethod method : {ScaleMethod::search, ScaleMethod::awq}) {
    const QuantizationTask task{.scheme = QuantizationScheme(*find_mode("a16w4"), method),
                                .calibration = text,
                                .on_calibration = {},
                                .on_weights = {}};
    const auto measure = [&]() -> Result<void> {
      const auto report = measure_loss(engine, *model, task);
      return report ? Result<void>() : std::unexpected(report.error());
    };
    fail_everywhere([&] { return outcome_of(measure); }, 40);
  }
}

TEST_CASE("a quantised folder is written, or there is none, wherever memory ends") {
  const Folder folder;
  write_model(folder, decoder_config, make_decoder("llama", 38));
  Engine engine(2);
  REQUIRE(engine.choose_kernels(nullptr, nullptr) == AXLE_OK);
  const Result<Model> model = Model::open(folder.path());
  REQUIRE(model.has_value());
  const QuantizationTask task{
      .scheme = QuantizationScheme(*find_mode("a16w8"), ScaleMethod::absmax),
      .calibration = {},
      .on_calibration = {},
      .on_weights = {}};
  const Folder results;
  const std::string written = results.at("quantised");
  std::size_t complete = 0;
  fail_everywhere(
      [&] {
        const Outcome outcome = outcome_of([&]() -> Result<void> {
          const auto report = quantise_model(engine, *model, folder.path(), written, task);
          return report ? Result<void>() : std::unexpected(report.error());
        });
        if (outcome.status != AXLE_OK) return outcome;
        char kept[200];  // nothing may be allocated here
        std::snprintf(kept, sizeof kept, "%s-%zu", written.c_str(), complete++);
        CHECK(std::rename(written.c_str(), kept) == 0);
        return outcome;
      },
      100);
  CHECK(results.names().size() == complete);
}

TEST_CASE("a GGUF file's tokenizer is written as JSON, or there is no memory, wherever it ends") {
  GgufVocabulary vocabulary;
  vocabulary.model = "gpt2";
  vocabulary.split = "smollm";
  vocabulary.tokens = {"a", "b", "ab", "<end>"};
  vocabulary.types = {gguf_token::normal, gguf_token::normal, gguf_token::normal,
                      gguf_token::control};
  vocabulary.merges = {"a b"};
  vocabulary.end = 3;
  vocabulary.add_end = true;
  fail_everywhere([&] {
    return outcome_of([&]() -> Result<void> {
      const auto text = tokenizer_json(vocabulary, "model.gguf");
      return text ? Result<void>() : std::unexpected(text.error());
    });
  });
}

}  // namespace axle::runtime
