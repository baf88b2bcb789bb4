// A decoder beside the same in double, and beside itself: every kernel set, number of threads,
// batch and division into chunks gives the same bits.
#include "runtime/model/decoder.h"

#include <cmath>
#include <cstring>
#include <limits>

#include <doctest/doctest.h>

#include "runtime/model/generation.h"
#include "runtime/model/perplexity.h"
#include "tests/runtime/kernel_sets.h"
#include "tests/runtime/model/reference.h"

namespace axle::runtime {
namespace {

using Tokens = std::vector<std::int32_t>;

const Tokens text{5, 17, 99, 3, 3, 42, 0, 100, 8, 61, 12, 77, 77, 1, 30, 2, 55, 9, 23, 64, 31};

Decoder load(Engine& engine, const TinyModel& model, const char* mode) {
  Result<Decoder> decoder = Decoder::load(engine, model.shape, model.tensors, *find_mode(mode), {});
  REQUIRE_MESSAGE(decoder.has_value(), decoder.error().message);
  return std::move(*decoder);
}

/// Logits after the last token, read in chunks of `chunk`.
std::vector<float> logits_of(Decoder& decoder, CacheForm form, const Tokens& tokens,
                             std::size_t chunk) {
  PagePool pool(decoder.cache_shape(form));
  Sequence sequence(pool);
  std::vector<float> logits(decoder.shape().vocabulary);
  for (std::size_t i = 0; i < tokens.size(); i += chunk) {
    const std::size_t count = std::min(chunk, tokens.size() - i);
    const Continuation next{&sequence, std::span(tokens).subspan(i, count), logits.data()};
    const Result<void> done = decoder.forward({&next, 1});
    REQUIRE(done.has_value());
  }
  CHECK(sequence.length() == tokens.size());
  return logits;
}

double relative_error(const std::vector<float>& got, const std::vector<double>& expected) {
  double difference = 0;
  double size = 0;
  for (std::size_t i = 0; i < got.size(); ++i) {
    difference += std::pow(static_cast<double>(got[i]) - expected[i], 2);
    size += expected[i] * expected[i];
  }
  return std::sqrt(difference / size);
}

bool same_bytes(const std::vector<float>& a, const std::vector<float>& b) {
  return a.size() == b.size() && std::memcmp(a.data(), b.data(), a.size() * sizeof(float)) == 0;
}

}  // namespace

TEST_CASE("a decoder's logits are those of the definition") {
  for (const char* type : {"llama", "qwen2", "qwen3"}) {
    CAPTURE(type);
    TinyModel model = make_decoder(type, 7);
    const std::vector<double> expected = reference_logits(model, text);
    Engine engine(2);
    axle_error error{};
    REQUIRE(engine.choose_kernels(nullptr, &error) == AXLE_OK);
    const std::pair<const char*, double> caps[] = {{"float", 3e-6}, {"a16w8", 2e-2},
                                                   {"da8w8", 6e-2}, {"a16w4", 0.3},
                                                   {"da8w4", 0.3},  {"fp8", 0.25}};
    for (const auto& [mode, cap] : caps) {
      CAPTURE(mode);
      Decoder decoder = load(engine, model, mode);
      CHECK(relative_error(logits_of(decoder, CacheForm::float32, text, 512), expected) < cap);
      CHECK(relative_error(logits_of(decoder, CacheForm::float16, text, 512), expected) <
            cap + 2e-3);
      CHECK(relative_error(logits_of(decoder, CacheForm::int8, text, 512), expected) < cap + 4e-2);
    }
  }
}

TEST_CASE("every kernel set, number of threads and chunk of the prompt gives the same bits") {
  const TinyModel model = make_decoder("llama", 8);
  for (const char* mode : {"float", "a16w8", "da8w8", "a16w4", "da8w4"}) {
    CAPTURE(mode);
    std::vector<float> first;
    for (const KernelRow& row : kernel_sets_to_test()) {
      CAPTURE(row.name);
      for (const int threads : {1, 3}) {
        Engine engine(threads);
        engine.use_only(row);
        Decoder decoder = load(engine, model, mode);
        for (const std::size_t chunk : {1UL, 5UL, 512UL}) {
          const std::vector<float> logits = logits_of(decoder, CacheForm::float16, text, chunk);
          if (first.empty()) first = logits;
          CHECK(same_bytes(logits, first));
        }
      }
    }
  }
}

TEST_CASE("whoever else is in a batch changes no bit") {
  const TinyModel model = make_decoder("qwen3", 9);
  Engine engine(2);
  axle_error error{};
  REQUIRE(engine.choose_kernels(nullptr, &error) == AXLE_OK);
  for (const char* mode : {"float", "a16w8", "da8w8", "a16w4", "da8w4"}) {
    Decoder decoder = load(engine, model, mode);
    const std::vector<float> alone = logits_of(decoder, CacheForm::int8, text, 512);
    PagePool pool(decoder.cache_shape(CacheForm::int8));
    std::vector<Sequence> sequences;
    std::vector<std::vector<float>> logits(9, std::vector<float>(model.shape.vocabulary));
    std::vector<Continuation> together;
    for (std::size_t i = 0; i < 9; ++i) sequences.emplace_back(pool);
    const Tokens others{1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11};
    for (std::size_t i = 0; i < 9; ++i)
      together.push_back({&sequences[i], i == 4 ? std::span(text) : std::span(others).first(i + 1),
                          i % 2 == 0 ? logits[i].data() : nullptr});
    REQUIRE(decoder.forward(together).has_value());
    CHECK(same_bytes(logits[4], alone));
  }
}

TEST_CASE("which logits are wanted changes neither them nor what comes after") {
  Engine engine(2);
  REQUIRE(engine.choose_kernels(nullptr, nullptr) == AXLE_OK);
  const TinyModel model = make_decoder("llama", 5);
  for (const char* const mode : {"a16w8", "float"}) {
    Decoder decoder = load(engine, model, mode);
    PagePool pool(decoder.cache_shape(CacheForm::float16));
    const std::size_t vocabulary = decoder.shape().vocabulary;
    std::vector<float> all(text.size() * vocabulary);
    std::vector<float> expected_next(vocabulary);
    for (const std::size_t wanted : {text.size(), std::size_t{6}, std::size_t{1}, std::size_t{0}}) {
      CAPTURE(wanted);
      Sequence first(pool);
      Sequence other(pool);  // whose logits nobody wants
      std::vector<float> logits(text.size() * vocabulary);
      const Continuation both[] = {{&other, std::span(text).first(7), nullptr},
                                   {&first, text, wanted > 0 ? logits.data() : nullptr, wanted}};
      REQUIRE(decoder.forward(both).has_value());
      if (wanted == text.size()) all = logits;
      CHECK(std::memcmp(logits.data(), all.data() + (text.size() - wanted) * vocabulary,
                        wanted * vocabulary * sizeof(float)) == 0);
      std::vector<float> next(vocabulary);
      const std::int32_t token = 9;
      const Continuation step{&first, {&token, 1}, next.data()};
      REQUIRE(decoder.forward({&step, 1}).has_value());
      if (wanted == text.size()) expected_next = next;
      CHECK(same_bytes(next, expected_next));
    }
  }
}

TEST_CASE("rows in pairs give the scores of rows half a head apart") {
  TinyModel apart = make_decoder("llama", 10);
  TinyModel pairs = make_decoder("llama", 10);
  pairs.shape.interleaved_rotary = true;
  const std::size_t depth = apart.shape.head_depth;
  for (std::size_t layer = 0; layer < 2; ++layer) {
    for (const char* part : {"q_proj", "k_proj"}) {
      const std::string name =
          "model.layers." + std::to_string(layer) + ".self_attn." + part + ".weight";
      const std::vector<float>& from = apart.numbers_of(name);
      std::vector<float>& to = pairs.numbers_of(name);
      const std::size_t width = apart.shape.hidden;
      for (std::size_t row = 0; row < from.size() / width; ++row) {
        const std::size_t at = row % depth;
        const std::size_t target = row - at + (at < depth / 2 ? 2 * at : 2 * (at - depth / 2) + 1);
        std::copy_n(from.begin() + static_cast<std::ptrdiff_t>(row * width), width,
                    to.begin() + static_cast<std::ptrdiff_t>(target * width));
      }
    }
  }
  Engine engine(1);
  axle_error error{};
  REQUIRE(engine.choose_kernels(nullptr, &error) == AXLE_OK);
  Decoder a = load(engine, apart, "float");
  Decoder b = load(engine, pairs, "float");
  CHECK(same_bytes(logits_of(a, CacheForm::float32, text, 512),
                   logits_of(b, CacheForm::float32, text, 512)));
}

TEST_CASE("a window hides what lies before it") {
  TinyModel model = make_decoder("llama", 11);
  Engine engine(1);
  axle_error error{};
  REQUIRE(engine.choose_kernels(nullptr, &error) == AXLE_OK);
  Decoder whole = load(engine, model, "float");
  const std::vector<float> all = logits_of(whole, CacheForm::float32, text, 512);
  model.shape.window = text.size();
  Decoder wide = load(engine, model, "float");
  CHECK(same_bytes(logits_of(wide, CacheForm::float32, text, 512), all));
  // One layer of a window of one token sees that token alone.
  model.shape.window = 1;
  Decoder narrow = load(engine, model, "float");
  const std::vector<float> last = logits_of(narrow, CacheForm::float32, text, 512);
  CHECK(!same_bytes(last, all));
  Tokens other = text;
  other.front() = 50;
  CHECK(same_bytes(logits_of(narrow, CacheForm::float32, other, 512), last));
  model.shape.window = 18;
  Decoder some = load(engine, model, "float");
  const std::vector<float> chunked = logits_of(some, CacheForm::float32, text, 3);
  CHECK(same_bytes(chunked, logits_of(some, CacheForm::float32, text, 512)));
}

TEST_CASE("texts are continued in batches as alone, and ended as asked") {
  const TinyModel model = make_decoder("llama", 12);
  Engine engine(2);
  axle_error error{};
  REQUIRE(engine.choose_kernels(nullptr, &error) == AXLE_OK);
  Decoder decoder = load(engine, model, "a16w8");
  std::vector<Prompt> prompts;
  for (std::size_t i = 0; i < 5; ++i)
    prompts.push_back({Tokens(text.begin(), text.begin() + 1 + static_cast<std::ptrdiff_t>(i) * 3),
                       10 + i,
                       {.temperature = i % 2 == 0 ? 0.0 : 0.8, .top_k = 20, .seed = i}});
  const Result<std::vector<Answer>> together = generate(decoder, CacheForm::float16, prompts, {});
  REQUIRE(together.has_value());
  for (std::size_t i = 0; i < prompts.size(); ++i) {
    CHECK((*together)[i].tokens.size() == 10 + i);
    const Result<std::vector<Answer>> alone =
        generate(decoder, CacheForm::float16, {&prompts[i], 1}, {});
    REQUIRE(alone.has_value());
    CHECK((*alone)[0].tokens == (*together)[i].tokens);
  }
  // Greedy decoding is the largest logit, again and again.
  Tokens grown = prompts[2].tokens;
  for (const std::int32_t token : (*together)[2].tokens) {
    const std::vector<float> logits = logits_of(decoder, CacheForm::float16, grown, 512);
    CHECK(token == std::max_element(logits.begin(), logits.end()) - logits.begin());
    grown.push_back(token);
  }
  const Result<std::vector<Answer>> stopped =
      generate(decoder, CacheForm::float16, prompts,
               [](std::size_t prompt, std::int32_t) { return prompt != 3; });
  REQUIRE(stopped.has_value());
  CHECK((*stopped)[3].tokens.size() == 1);
  CHECK((*stopped)[3].ending == Ending::stopped);
  CHECK((*stopped)[4].tokens == (*together)[4].tokens);
}

TEST_CASE("prompts are read together in chunks, the last of them in two, and answered as alone") {
  TinyModel model = make_decoder("llama", 14);
  model.shape.context = 2048;
  Engine engine(2);
  axle_error error{};
  REQUIRE(engine.choose_kernels(nullptr, &error) == AXLE_OK);
  Decoder decoder = load(engine, model, "a16w8");
  std::vector<Prompt> prompts;
  for (const std::size_t length : {std::size_t{5}, 2 * Decoder::most_tokens + 3, std::size_t{7}}) {
    Tokens tokens;
    for (std::size_t i = 0; i < length; ++i) tokens.push_back(text[i * i % text.size()]);
    prompts.push_back({std::move(tokens), 4, {}});
  }
  std::vector<std::size_t> order;
  Result<Generation> generation = Generation::begin(decoder, CacheForm::float16, prompts);
  REQUIRE(generation.has_value());
  std::size_t steps = 0;
  for (; generation->is_running(); ++steps)
    REQUIRE(generation->step([&](std::size_t prompt, std::int32_t) {
      order.push_back(prompt);
      return true;
    }));
  // Of 1039 tokens 512 at a time; the short prompts before and behind share calls with the long
  // one. Then three tokens each.
  CHECK(steps == 3 + 3);
  CHECK(order == std::vector<std::size_t>{0, 1, 2, 0, 1, 2, 0, 1, 2, 0, 1, 2});
  for (std::size_t i = 0; i < prompts.size(); ++i) {
    const Result<std::vector<Answer>> alone =
        generate(decoder, CacheForm::float16, {&prompts[i], 1}, {});
    REQUIRE(alone.has_value());
    CHECK((*alone)[0].tokens == generation->answer(i).tokens);
  }
}

TEST_CASE("an answer ends with the context and with an end token") {
  TinyModel model = make_decoder("llama", 13);
  Engine engine(1);
  axle_error error{};
  REQUIRE(engine.choose_kernels(nullptr, &error) == AXLE_OK);
  Decoder decoder = load(engine, model, "da8w8");
  const Prompt endless{text, 100000, {}};
  const Result<std::vector<Answer>> answer = generate(decoder, CacheForm::int8, {&endless, 1}, {});
  REQUIRE(answer.has_value());
  CHECK(answer->front().ending == Ending::context);
  CHECK(answer->front().tokens.size() + text.size() == model.shape.context);
  model.shape.end_tokens = {answer->front().tokens[4]};
  Decoder ending = load(engine, model, "da8w8");
  const Result<std::vector<Answer>> ended = generate(ending, CacheForm::int8, {&endless, 1}, {});
  REQUIRE(ended.has_value());
  CHECK(ended->front().ending == Ending::end_token);
  CHECK(ended->front().tokens.size() <= 4);
}

TEST_CASE("what cannot be continued is said") {
  TinyModel model = make_decoder("llama", 14);
  Engine engine(1);
  axle_error error{};
  REQUIRE(engine.choose_kernels(nullptr, &error) == AXLE_OK);
  Decoder decoder = load(engine, model, "float");
  const auto message = [&](const Tokens& tokens) {
    const Prompt prompt{tokens, 4, {}};
    const auto answer = generate(decoder, CacheForm::float16, {&prompt, 1}, {});
    return answer ? std::string() : answer.error().message;
  };
  CHECK(message({}).find("empty") != std::string::npos);
  CHECK(message({7, 101}).find("tiny model: token 101, number 2 of the prompt, is not in the "
                               "model's vocabulary of 101") != std::string::npos);
  CHECK(message({-1}).find("token -1") != std::string::npos);
  CHECK(message(Tokens(128, 1)).find("the model's context 128") != std::string::npos);
  CHECK(message(Tokens(127, 1)).empty());
  const Prompt several[] = {{{1, 2}, 4, {}}, {{}, 4, {}}};
  const auto answers = generate(decoder, CacheForm::float16, several, {});
  REQUIRE(!answers.has_value());
  CHECK(answers.error().message == "prompt 1 is empty: there is nothing to continue");
}

TEST_CASE("tensors that are missing, of the wrong shape or not finite are named") {
  Engine engine(1);
  axle_error error{};
  REQUIRE(engine.choose_kernels(nullptr, &error) == AXLE_OK);
  const auto load_failure = [&](const TinyModel& model) {
    const auto decoder = Decoder::load(engine, model.shape, model.tensors, *find_mode("a16w8"), {});
    return decoder ? std::string() : decoder.error().message;
  };
  TinyModel model = make_decoder("llama", 15);
  const std::string name = "model.layers.1.mlp.down_proj.weight";
  model.numbers_of(name)[3] = std::numeric_limits<float>::quiet_NaN();
  CHECK(load_failure(model).find("\"" + name + "\": row 0, element 3 is not finite (nan)") !=
        std::string::npos);
  model = make_decoder("llama", 15);
  model.numbers_of("model.norm.weight")[2] = std::numeric_limits<float>::infinity();
  CHECK(load_failure(model).find("\"model.norm.weight\": element 2 is not finite") !=
        std::string::npos);
  model = make_decoder("llama", 15);
  model.shape.feed_forward = 160;
  CHECK(load_failure(model).find(
            "\"model.layers.0.mlp.gate_proj.weight\" has the shape [176, 64]; by "
            "the model's numbers it must be [160, 64]") != std::string::npos);
  model = make_decoder("llama", 15);
  model.shape.layers = 3;
  CHECK(load_failure(model).find("\"model.layers.2.input_layernorm.weight\" is missing") !=
        std::string::npos);
}

TEST_CASE("an embedding that is not finite is named when its token is read") {
  TinyModel model = make_decoder("llama", 18);
  model.numbers_of("model.embed_tokens.weight")[7 * 64 + 5] =
      -std::numeric_limits<float>::infinity();
  Engine engine(1);
  axle_error error{};
  REQUIRE(engine.choose_kernels(nullptr, &error) == AXLE_OK);
  Decoder decoder = load(engine, model, "a16w8");
  const Prompt sound{{1, 2, 3}, 1, {}};
  CHECK(generate(decoder, CacheForm::float16, {&sound, 1}, {}).has_value());
  const Prompt prompt{{1, 7, 3}, 4, {}};
  const auto answer = generate(decoder, CacheForm::float16, {&prompt, 1}, {});
  REQUIRE(!answer.has_value());
  CHECK(answer.error().status == AXLE_MALFORMED);
  CHECK(answer.error().message.starts_with(
      "tiny model: tensor \"model.embed_tokens.weight\": row 7, element 5 is not finite (-inf)"));
}

TEST_CASE("finite weights whose sums overflow end in an error, and harm no other text") {
  TinyModel model = make_decoder("llama", 16);
  for (float& weight : model.numbers_of("model.layers.0.mlp.down_proj.weight")) weight *= 1e38F;
  Engine engine(1);
  axle_error error{};
  REQUIRE(engine.choose_kernels(nullptr, &error) == AXLE_OK);
  Decoder decoder = load(engine, model, "float");
  const Prompt prompt{text, 4, {}};
  const auto answer = generate(decoder, CacheForm::float16, {&prompt, 1}, {});
  REQUIRE(!answer.has_value());
  CHECK(answer.error().message.find("tiny model: the model's numbers overflow") == 0);
  const auto measured = measure_perplexity(decoder, CacheForm::float16, text, 10, {});
  REQUIRE(!measured.has_value());
  CHECK(measured.error().message.find("tiny model: the model's numbers overflow") == 0);
}

TEST_CASE("perplexity is that of the definition, over windows") {
  TinyModel model = make_decoder("llama", 17);
  Engine engine(2);
  axle_error error{};
  REQUIRE(engine.choose_kernels(nullptr, &error) == AXLE_OK);
  Decoder decoder = load(engine, model, "float");
  double sum = 0;
  // Two windows of ten tokens; the last token of the text is left over.
  for (const std::size_t start : {0UL, 10UL}) {
    for (std::size_t i = 5; i < 10; ++i) {
      const Tokens before(text.begin() + static_cast<std::ptrdiff_t>(start),
                          text.begin() + static_cast<std::ptrdiff_t>(start + i));
      const std::vector<double> logits = reference_logits(model, before);
      double total = 0;
      for (const double logit : logits) total += std::exp(logit);
      sum += std::log(total) - logits[static_cast<std::size_t>(text[start + i])];
    }
  }
  const auto measured = measure_perplexity(decoder, CacheForm::float32, text, 10, {});
  REQUIRE(measured.has_value());
  CHECK(measured->scored == 10);
  CHECK(measured->mean == doctest::Approx(sum / 10).epsilon(1e-5));
  CHECK(measured->perplexity == doctest::Approx(std::exp(sum / 10)).epsilon(1e-5));
  CHECK(!measure_perplexity(decoder, CacheForm::float32, text, 22, {}).has_value());
  CHECK(!measure_perplexity(decoder, CacheForm::float32, text, 1, {}).has_value());
}

}  // namespace axle::runtime
