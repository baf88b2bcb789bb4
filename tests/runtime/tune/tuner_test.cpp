// Tuning, measuring and testing of tiny models: what is chosen is what the machine has, and changes
// no bit.
#include "runtime/tune/tuner.h"

#include <cstring>

#include <doctest/doctest.h>

#include "runtime/model/model_selftest.h"
#include "runtime/tune/model_speed.h"
#include "runtime/tune/search.h"
#include "tests/runtime/model/tiny_model.h"

namespace axle::runtime {
namespace {

struct OwnEngine {
  OwnEngine() { REQUIRE(engine.choose_kernels(nullptr, nullptr) == AXLE_OK); }
  Engine engine{2};
};

Decoder load(Engine& engine, const TinyModel& model, const char* mode) {
  Result<Decoder> decoder = Decoder::load(engine, model.shape, model.tensors, *find_mode(mode), {});
  REQUIRE_MESSAGE(decoder.has_value(), decoder.error().message);
  return std::move(*decoder);
}

/// A choice for each of the layers and numbers of rows that is not the default.
std::size_t choose_otherwise(Engine& engine, std::span<Linear* const> layers) {
  std::size_t chosen = 0;
  for (const Linear* const layer : layers) {
    for (std::size_t bucket = 0; bucket < bucket_count; ++bucket)
      chosen += engine.choose(layer->shape(), bucket,
                              {.kernel = engine.kernels()[bucket % engine.kernels().size()],
                               .threads = 1,
                               .chunk_bytes = 1U << 16U})
                    ? 1
                    : 0;
  }
  return chosen;
}

}  // namespace

TEST_CASE("tuning measures each shape of layers and keeps what the machine has") {
  OwnEngine own;
  const TinyModel model = make_decoder("llama", 1);
  Decoder decoder = load(own.engine, model, "a16w8");
  const std::vector<Linear*> layers = decoder.linears();
  CHECK(layers.size() == 4 * model.shape.layers + 1);
  double last = 0;
  const Result<Tuning> tuning = tune_layers(own.engine, layers, [&](double part) {
    CHECK(part >= last);
    last = part;
  });
  REQUIRE(tuning.has_value());
  CHECK(last == 1);
  CHECK(tuning->buckets.size() == bucket_count);
  CHECK(tuning->measurements >= tuning->shapes.size() * bucket_count);
  for (const TunedLayer& layer : tuning->layers) {
    CHECK(find_kernel(layer.kernel) != nullptr);
    CHECK(is_usable(*find_kernel(layer.kernel)));
    CHECK(layer.gain >= Search::least_gain);
  }
  for (const TunedBucket& bucket : tuning->buckets) CHECK(bucket.gain >= 1);
}

TEST_CASE("there is nothing to tune in mode float") {
  OwnEngine own;
  const TinyModel model = make_decoder("llama", 1);
  Decoder decoder = load(own.engine, model, "float");
  CHECK(decoder.linears().empty());
  const Result<Tuning> tuning = tune_layers(own.engine, decoder.linears(), {});
  REQUIRE_FALSE(tuning.has_value());
  CHECK(tuning.error().status == AXLE_UNSUPPORTED);
}

TEST_CASE("choices do not change what a model computes") {
  OwnEngine own;
  const TinyModel model = make_decoder("qwen3", 2);
  for (const char* mode : {"a16w8", "da8w4"}) {
    CAPTURE(mode);
    Decoder decoder = load(own.engine, model, mode);
    PagePool pool(decoder.cache_shape(CacheForm::float16));
    std::vector<std::vector<float>> logits;
    for (const bool tuned : {false, true}) {
      if (tuned)
        CHECK(choose_otherwise(own.engine, decoder.linears()) ==
              decoder.linears().size() * bucket_count);
      for (const std::size_t count : {1U, 2U, 5U, 40U}) {
        Sequence text(pool);
        std::vector<std::int32_t> tokens(count);
        for (std::size_t i = 0; i < count; ++i) tokens[i] = static_cast<std::int32_t>(i * 3 % 50);
        logits.emplace_back(model.shape.vocabulary);
        const Continuation whole{&text, tokens, logits.back().data()};
        REQUIRE(decoder.forward({&whole, 1}).has_value());
      }
    }
    for (std::size_t i = 0; i < 4; ++i)
      CHECK(std::memcmp(logits[i].data(), logits[i + 4].data(), logits[i].size() * sizeof(float)) ==
            0);
    own.engine.forget_choices();
  }
}

TEST_CASE("speed is measured in pairs where there are choices") {
  OwnEngine own;
  const TinyModel model = make_decoder("llama", 3);
  Decoder decoder = load(own.engine, model, "a16w8");
  for (const bool tuned : {false, true}) {
    if (tuned) REQUIRE(choose_otherwise(own.engine, decoder.linears()) > 0);
    const Result<ModelSpeed> speed = measure_speed(own.engine, decoder, CacheForm::float16, {});
    REQUIRE_MESSAGE(speed.has_value(), speed.error().message);
    REQUIRE(speed->calls.size() == 4);
    CHECK(speed->read_bytes_per_second > 0);
    for (const CallSpeed& call : speed->calls) {
      CHECK(call.best > 0);
      CHECK(call.median >= call.best);
      CHECK(call.bytes >= decoder.weight_bytes());
      if (!tuned) {
        CHECK(call.gain == 1);
        CHECK(call.default_median == call.median);
      }
    }
  }
}

TEST_CASE("a model is the same with every kernel set, and the engine is left as it was") {
  OwnEngine own;
  const std::size_t sets = own.engine.kernels().size();
  const TinyModel tiny = make_decoder("qwen2", 4);
  for (const char* mode : {"a16w8", "a16w4", "float"}) {
    CAPTURE(mode);
    Decoder decoder = load(own.engine, tiny, mode);
    const Result<ModelSelftest> test = selftest_model(own.engine, decoder, CacheForm::float16, {});
    REQUIRE_MESSAGE(test.has_value(), test.error().message);
    CHECK(test->kernels.size() >= 1);
    CHECK(test->kernels.back() == "baseline");
    CHECK(own.engine.kernels().size() == sets);
    CHECK_FALSE(own.engine.forced());
  }
  const TinyModel model = make_encoder(5);
  Result<Encoder> encoder =
      Encoder::load(own.engine, model.shape, model.tensors, *find_mode("da8w8"), {});
  REQUIRE(encoder.has_value());
  CHECK(encoder->linears().size() == 4 * model.shape.layers);
  const Result<ModelSelftest> test = selftest_model(own.engine, *encoder, {}, {});
  REQUIRE_MESSAGE(test.has_value(), test.error().message);
  own.engine.use_only(kernel_table().back());
  const Result<ModelSelftest> alone = selftest_model(own.engine, *encoder, {}, {});
  REQUIRE(alone.has_value());
  CHECK(alone->kernels == std::vector<std::string>{"baseline"});
  CHECK(alone->hash == test->hash);
  CHECK(own.engine.forced());
}

}  // namespace axle::runtime
