#include "runtime/tune/model_speed.h"

#include <algorithm>

#include "runtime/machine/clock.h"
#include "runtime/read_probe.h"
#include "runtime/tune/search.h"

namespace axle::runtime {
namespace {

constexpr std::size_t batches[] = {1, 8, 32};
constexpr std::size_t prompt_tokens_wanted = 512;
constexpr std::size_t text_tokens_wanted = 64;  ///< of a text that is embedded
constexpr std::size_t past_tokens = 16;         ///< of a text that is continued
constexpr std::size_t least_pairs = 5;
constexpr std::size_t most_pairs = 25;
constexpr double seconds_a_call_kind = 4;
/// Twice what a private cache may hold, and more than a share of the last one.
constexpr std::size_t probe_part = std::size_t{16} << 20;
constexpr std::size_t probe_parts = 16;

using Call = std::function<Result<void>()>;

/// Tokens of no meaning, other ones for each text.
std::vector<std::int32_t> make_tokens(std::size_t count, std::size_t vocabulary, std::size_t seed) {
  std::vector<std::int32_t> tokens(count);
  for (std::size_t i = 0; i < count; ++i)
    tokens[i] = static_cast<std::int32_t>((seed * 7919 + i * 104729 + 1) % vocabulary);
  return tokens;
}

class SpeedTest {
 public:
  SpeedTest(Engine& engine, const LoadProgress& progress)
      : engine_(engine), progress_(progress), probe_(engine) {}

  Result<void> begin(std::size_t kinds, const std::vector<Linear*>& layers) {
    kinds_ = kinds;
    result_.tuned = std::any_of(layers.begin(), layers.end(), [&](const Linear* one) {
      return engine_.has_choice(one->shape());
    });
    if (probe_.allocate(probe_parts, probe_part)) return {};
    return failure(AXLE_NO_MEMORY, "no memory for the probe of plain reads");
  }

  /// `reset` makes a call possible; it is not timed.
  Result<void> measure(CallSpeed speed, const Call& call, const Call& reset);
  ModelSpeed take() { return std::move(result_); }

 private:
  Result<double> time(bool tuned, const Call& call, const Call& reset);

  Engine& engine_;
  const LoadProgress& progress_;
  ReadProbe probe_;
  std::size_t kinds_ = 1;
  std::size_t probed_ = 0;
  ModelSpeed result_;
};

Result<double> SpeedTest::time(bool tuned, const Call& call, const Call& reset) {
  Result<void> done = reset();
  if (!done) return std::unexpected(done.error());
  engine_.heed_choices(tuned);
  const double start = now();
  done = call();
  const double seconds = now() - start;
  engine_.heed_choices(true);
  if (!done) return std::unexpected(done.error());
  return seconds;
}

Result<void> SpeedTest::measure(CallSpeed speed, const Call& call, const Call& reset) {
  const bool pairs = result_.tuned;
  std::vector<double> tuned;
  std::vector<double> usual;
  std::vector<double> ratios;
  const double end = now() + seconds_a_call_kind;
  for (std::size_t pair = 0; pair < most_pairs && (pair < least_pairs || now() < end); ++pair) {
    for (std::size_t turn = 0; turn < (pairs ? 2 : 1); ++turn) {
      const bool with = !pairs || (pair + turn) % 2 == 1;
      const Result<double> seconds = time(with, call, reset);
      if (!seconds) return std::unexpected(seconds.error());
      (with ? tuned : usual).push_back(*seconds);
    }
    if (pairs) ratios.push_back(usual.back() / tuned.back());
    const double read = probe_.seconds(probed_++ % probe_.parts());
    if (read > 0)
      result_.read_bytes_per_second =
          std::max(result_.read_bytes_per_second, static_cast<double>(probe_.part_bytes()) / read);
    if (progress_)
      progress_(
          (static_cast<double>(result_.calls.size()) + static_cast<double>(pair + 1) / most_pairs) /
          static_cast<double>(kinds_));
  }
  speed.median = median(tuned);
  speed.best = *std::min_element(tuned.begin(), tuned.end());
  speed.default_median = pairs ? median(usual) : speed.median;
  speed.gain = pairs ? median(ratios) : 1;
  result_.calls.push_back(speed);
  return {};
}

Result<void> measure_generation(SpeedTest& test, Decoder& decoder, PagePool& pool,
                                std::size_t batch) {
  const ModelShape& shape = decoder.shape();
  const std::size_t past = std::min(past_tokens, shape.context / 2);
  std::vector<Sequence> texts;
  std::vector<std::vector<std::int32_t>> tokens;
  std::vector<float> logits(batch * shape.vocabulary);
  for (std::size_t i = 0; i < batch; ++i) {
    texts.emplace_back(pool);
    tokens.push_back(make_tokens(past, shape.vocabulary, i));
    const Continuation first{&texts[i], tokens[i], nullptr};
    const Result<void> done = decoder.forward({&first, 1});
    if (!done) return done;
  }
  const auto reset = [&]() -> Result<void> {
    for (Sequence& text : texts) text.advance_to(past);
    return {};
  };
  const auto call = [&] {
    std::vector<Continuation> steps;
    for (std::size_t i = 0; i < batch; ++i)
      steps.push_back({&texts[i], {tokens[i].data(), 1}, logits.data() + i * shape.vocabulary});
    return decoder.forward(steps);
  };
  const std::size_t pages = past / page_positions + 1;
  const std::size_t bytes = decoder.weight_bytes() + batch * pages * pool.shape().page_bytes();
  return test.measure({"generate", batch, batch, bytes}, call, reset);
}

Result<void> measure_prompt(SpeedTest& test, Decoder& decoder, PagePool& pool) {
  const ModelShape& shape = decoder.shape();
  const std::size_t count = std::min(prompt_tokens_wanted, shape.context - 1);
  const std::vector<std::int32_t> tokens = make_tokens(count, shape.vocabulary, 1);
  Sequence text(pool);
  std::vector<float> logits(shape.vocabulary);
  const auto reset = [&]() -> Result<void> {
    text.clear();
    return {};
  };
  const auto call = [&] {
    const Continuation whole{&text, tokens, logits.data()};
    return decoder.forward({&whole, 1});
  };
  return test.measure({"prompt", 1, count, decoder.weight_bytes()}, call, reset);
}

}  // namespace

Result<ModelSpeed> measure_speed(Engine& engine, Decoder& decoder, CacheForm form,
                                 const LoadProgress& progress) {
  if (decoder.shape().context < 4)
    return failure(AXLE_UNSUPPORTED, "a context of %zu tokens is too short to be measured",
                   decoder.shape().context);
  SpeedTest test(engine, progress);
  Result<void> done = test.begin(std::size(batches) + 1, decoder.linears());
  PagePool pool(decoder.cache_shape(form));
  for (const std::size_t batch : batches) {
    if (done) done = measure_generation(test, decoder, pool, batch);
  }
  if (done) done = measure_prompt(test, decoder, pool);
  if (!done) return std::unexpected(done.error());
  if (progress) progress(1);
  return test.take();
}

Result<ModelSpeed> measure_speed(Engine& engine, Encoder& encoder, const Pooling& pooling,
                                 const LoadProgress& progress) {
  const ModelShape& shape = encoder.shape();
  const std::size_t count = std::min(text_tokens_wanted, shape.context);
  SpeedTest test(engine, progress);
  Result<void> done = test.begin(std::size(batches), encoder.linears());
  for (const std::size_t batch : batches) {
    std::vector<std::vector<std::int32_t>> texts;
    for (std::size_t i = 0; i < batch; ++i)
      texts.push_back(make_tokens(count, shape.vocabulary, i));
    const auto call = [&]() -> Result<void> {
      const auto vectors = encoder.embed(texts, pooling);
      if (!vectors) return std::unexpected(vectors.error());
      return {};
    };
    const auto nothing = []() -> Result<void> { return {}; };
    if (done)
      done = test.measure({"embed", batch, batch * count, encoder.weight_bytes()}, call, nothing);
  }
  if (!done) return std::unexpected(done.error());
  if (progress) progress(1);
  return test.take();
}

}  // namespace axle::runtime
