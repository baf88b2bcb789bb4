#include "runtime/model/model_selftest.h"

#include <algorithm>
#include <cstring>

namespace axle::runtime {
namespace {

constexpr std::size_t tested_rows[] = {1, 3, 8, 37};
constexpr std::size_t most_tested_rows = 37;
/// Of the text that is read: a chunk, then token by token.
constexpr std::size_t tokens_together = 5;
constexpr std::size_t tokens_apart = 3;

std::uint64_t hash_of(std::span<const float> values, std::uint64_t hash = 0xcbf29ce484222325U) {
  for (const float value : values) {
    unsigned char bytes[sizeof value];
    std::memcpy(bytes, &value, sizeof value);
    for (const unsigned char byte : bytes) hash = (hash ^ byte) * 0x100000001b3U;
  }
  return hash;
}

std::vector<std::int32_t> make_tokens(std::size_t vocabulary) {
  std::vector<std::int32_t> tokens;
  for (std::size_t i = 0; i < tokens_together + tokens_apart; ++i)
    tokens.push_back(static_cast<std::int32_t>((i * 104729 + 1) % vocabulary));
  return tokens;
}

/// One layer of each shape.
std::vector<Linear*> one_of_each_shape(const std::vector<Linear*>& layers) {
  std::vector<Linear*> chosen;
  for (Linear* const layer : layers) {
    if (std::none_of(chosen.begin(), chosen.end(),
                     [&](const Linear* one) { return one->shape() == layer->shape(); }))
      chosen.push_back(layer);
  }
  return chosen;
}

Result<void> compare_layer(Linear& layer, const KernelRow& kernel) {
  std::vector<float> x(most_tested_rows * layer.k());
  for (std::size_t i = 0; i < x.size(); ++i)
    x[i] = static_cast<float>(static_cast<int>(i * 2654435761U % 2001U) - 1000);
  std::vector<float> y(most_tested_rows * layer.n());
  std::vector<float> expected(y.size());
  for (const std::size_t rows : tested_rows) {
    axle_error error{};
    axle_status status = layer.forward({&kernel}, AXLE_FLOAT32, x.data(), rows, y.data(), &error);
    if (status == AXLE_OK)
      status = layer.forward({&kernel_table().back()}, AXLE_FLOAT32, x.data(), rows,
                             expected.data(), &error);
    if (status != AXLE_OK) return failure(status, "%s", error.message);
    if (std::memcmp(y.data(), expected.data(), rows * layer.n() * sizeof(float)) != 0)
      return failure(AXLE_MISMATCH,
                     "kernel set '%s' differs from '%s' in a layer of %zu x %zu with %zu rows",
                     kernel.name, kernel_table().back().name, layer.n(), layer.k(), rows);
  }
  return {};
}

/// Puts the engine back to the sets that it had.
class OneSet {
 public:
  explicit OneSet(Engine& engine) : engine_(engine) {
    if (engine.forced()) forced_ = engine.kernels().front();
  }
  OneSet(const OneSet&) = delete;
  OneSet& operator=(const OneSet&) = delete;
  ~OneSet() {
    if (forced_ != nullptr) {
      engine_.use_only(*forced_);
    } else {
      engine_.choose_kernels(nullptr, nullptr);
    }
  }

 private:
  Engine& engine_;
  const KernelRow* forced_ = nullptr;
};

/// `run`: the hash of what the model computes with the engine as it is.
template <class Run>
Result<ModelSelftest> compare(Engine& engine, const std::vector<Linear*>& layers,
                              const LoadProgress& progress, Run run) {
  std::vector<const KernelRow*> kernels;
  for (std::size_t i = 0; i < engine.kernels().size(); ++i) {
    if (engine.forced() || engine.may_use(i)) kernels.push_back(engine.kernels()[i]);
  }
  const OneSet restored(engine);
  const std::vector<Linear*> shapes = one_of_each_shape(layers);
  ModelSelftest test{.kernels = {}, .shapes = shapes.size()};
  engine.use_only(kernel_table().back());
  const Result<std::uint64_t> expected = run();
  if (!expected) return std::unexpected(expected.error());
  test.hash = *expected;
  for (const KernelRow* const kernel : kernels) {
    for (Linear* const layer : shapes) {
      const Result<void> same = compare_layer(*layer, *kernel);
      if (!same) return std::unexpected(same.error());
    }
    engine.use_only(*kernel);
    const Result<std::uint64_t> hash = run();
    if (!hash) return std::unexpected(hash.error());
    if (*hash != test.hash)
      return failure(AXLE_MISMATCH, "kernel set '%s' computes other numbers than '%s'",
                     kernel->name, kernel_table().back().name);
    test.kernels.emplace_back(kernel->name);
    if (progress)
      progress(static_cast<double>(test.kernels.size()) / static_cast<double>(kernels.size()));
  }
  return test;
}

Result<std::uint64_t> hash_logits(Decoder& decoder, CacheForm form) {
  const std::size_t vocabulary = decoder.shape().vocabulary;
  const std::vector<std::int32_t> tokens = make_tokens(vocabulary);
  PagePool pool(decoder.cache_shape(form));
  Sequence text(pool);
  std::vector<float> logits(vocabulary);
  std::uint64_t hash = hash_of({});
  for (std::size_t at = 0; at < tokens.size();) {
    const std::size_t count = at == 0 ? tokens_together : 1;
    const Continuation next{&text, std::span(tokens).subspan(at, count), logits.data()};
    const Result<void> done = decoder.forward({&next, 1});
    if (!done) return std::unexpected(done.error());
    hash = hash_of(logits, hash);
    at += count;
  }
  return hash;
}

}  // namespace

Result<ModelSelftest> selftest_model(Engine& engine, Decoder& decoder, CacheForm form,
                                     const LoadProgress& progress) {
  if (decoder.shape().context < tokens_together + tokens_apart)
    return failure(AXLE_UNSUPPORTED, "a context of %zu tokens is too short to be tested",
                   decoder.shape().context);
  return compare(engine, decoder.linears(), progress, [&] { return hash_logits(decoder, form); });
}

Result<ModelSelftest> selftest_model(Engine& engine, Encoder& encoder, const Pooling& pooling,
                                     const LoadProgress& progress) {
  if (encoder.shape().context < tokens_together + tokens_apart)
    return failure(AXLE_UNSUPPORTED, "a context of %zu tokens is too short to be tested",
                   encoder.shape().context);
  const std::vector<std::int32_t> tokens = make_tokens(encoder.shape().vocabulary);
  return compare(engine, encoder.linears(), progress, [&]() -> Result<std::uint64_t> {
    const auto vectors = encoder.embed({&tokens, 1}, pooling);
    if (!vectors) return std::unexpected(vectors.error());
    return hash_of(vectors->front());
  });
}

}  // namespace axle::runtime
