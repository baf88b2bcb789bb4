#include "runtime/model/encoder.h"

#include <cmath>
#include <cstring>

#include <doctest/doctest.h>

#include "tests/runtime/kernel_sets.h"
#include "tests/runtime/model/reference.h"

namespace axle::runtime {
namespace {

using Tokens = std::vector<std::int32_t>;
using Vectors = std::vector<std::vector<float>>;

/// `row` null: the kernels that are chosen by themselves.
void choose_kernels(Engine& engine, const KernelRow* row) {
  axle_error error{};
  if (row != nullptr) {
    engine.use_only(*row);
  } else {
    REQUIRE(engine.choose_kernels(nullptr, &error) == AXLE_OK);
  }
}

Vectors embed(const KernelRow* row, int threads, const TinyModel& model, const char* mode,
              const std::vector<Tokens>& texts, const Pooling& pooling) {
  Engine engine(threads);
  choose_kernels(engine, row);
  Result<Encoder> encoder = Encoder::load(engine, model.shape, model.tensors, *find_mode(mode), {});
  REQUIRE_MESSAGE(encoder.has_value(), encoder.error().message);
  Result<Vectors> vectors = encoder->embed(texts, pooling);
  REQUIRE_MESSAGE(vectors.has_value(), vectors.error().message);
  return std::move(*vectors);
}

std::vector<float> score(const KernelRow* row, int threads, const TinyModel& model,
                         const char* mode, const std::vector<TokenPair>& pairs) {
  Engine engine(threads);
  choose_kernels(engine, row);
  Result<Encoder> encoder = Encoder::load(engine, model.shape, model.tensors, *find_mode(mode), {});
  REQUIRE_MESSAGE(encoder.has_value(), encoder.error().message);
  Result<std::vector<float>> scores = encoder->score(pairs);
  REQUIRE_MESSAGE(scores.has_value(), scores.error().message);
  return std::move(*scores);
}

double cosine(const std::vector<float>& a, const std::vector<double>& b) {
  double dot = 0;
  double left = 0;
  double right = 0;
  for (std::size_t i = 0; i < a.size(); ++i) {
    const double v = static_cast<double>(a[i]);
    dot += v * b[i];
    left += v * v;
    right += b[i] * b[i];
  }
  return dot / std::sqrt(left * right);
}

std::vector<Tokens> make_texts() {
  std::vector<Tokens> texts;
  for (std::size_t length : {1UL, 64UL, 17UL, 16UL, 5UL}) {
    Tokens tokens;
    for (std::size_t i = 0; i < length; ++i)
      tokens.push_back(static_cast<std::int32_t>((i * 7 + length) % 61));
    texts.push_back(tokens);
  }
  return texts;
}

}  // namespace

TEST_CASE("an encoder's vectors are those of the definition, by both ways of pooling") {
  TinyModel model = make_encoder(3);
  const std::vector<Tokens> texts = make_texts();
  const Vectors mean = embed(nullptr, 2, model, "float", texts, {Pooling::Kind::mean, true});
  const Vectors first = embed(nullptr, 2, model, "float", texts, {Pooling::Kind::first, false});
  const Vectors quantised = embed(nullptr, 2, model, "a16w8", texts, {Pooling::Kind::mean, false});
  for (std::size_t t = 0; t < texts.size(); ++t) {
    const std::vector<std::vector<double>> hidden = reference_hidden(model, texts[t]);
    std::vector<double> average(model.shape.hidden, 0.0);
    for (const std::vector<double>& row : hidden) {
      for (std::size_t i = 0; i < row.size(); ++i)
        average[i] += row[i] / static_cast<double>(hidden.size());
    }
    CHECK(cosine(mean[t], average) > 1 - 1e-9);
    CHECK(cosine(first[t], hidden[0]) > 1 - 1e-9);
    CHECK(cosine(quantised[t], average) > 0.999);
    double length = 0;
    for (const float v : mean[t]) length += static_cast<double>(v) * static_cast<double>(v);
    CHECK(std::abs(length - 1) < 1e-6);
    for (std::size_t i = 0; i < model.shape.hidden; ++i)
      CHECK(std::abs(static_cast<double>(first[t][i]) - hidden[0][i]) < 2e-5);
  }
}

TEST_CASE("every kernel set, number of threads and batch gives the same vectors") {
  const TinyModel model = make_encoder(4);
  const std::vector<Tokens> texts = make_texts();
  for (const char* mode : {"float", "da8w8"}) {
    const Vectors first = embed(nullptr, 1, model, mode, texts, {});
    for (const KernelRow& row : kernel_sets_to_test()) {
      CAPTURE(row.name);
      CHECK(embed(&row, 3, model, mode, texts, {}) == first);
    }
    for (std::size_t t = 0; t < texts.size(); ++t)
      CHECK(embed(nullptr, 2, model, mode, {texts[t]}, {})[0] == first[t]);
  }
}

TEST_CASE("every kernel set, number of threads and batch gives the same scores") {
  const TinyModel model = make_reranker(7);
  std::vector<TokenPair> pairs;
  for (const Tokens& text : make_texts()) pairs.push_back({text, text.size() / 2});
  for (const char* mode : {"float", "da8w8"}) {
    const std::vector<float> first = score(nullptr, 1, model, mode, pairs);
    for (const KernelRow& row : kernel_sets_to_test()) {
      CAPTURE(row.name);
      CHECK(score(&row, 3, model, mode, pairs) == first);
    }
    for (std::size_t i = 0; i < pairs.size(); ++i)
      CHECK(score(nullptr, 2, model, mode, {pairs[i]})[0] == first[i]);
  }
  // The segment counts.
  std::vector<TokenPair> others = pairs;
  for (TokenPair& pair : others) pair.second = pair.tokens.size();
  CHECK(score(nullptr, 1, model, "float", others) != score(nullptr, 1, model, "float", pairs));
}

TEST_CASE("an encoder without a head gives no scores") {
  const TinyModel model = make_encoder(8);
  Engine engine(1);
  choose_kernels(engine, nullptr);
  Result<Encoder> encoder =
      Encoder::load(engine, model.shape, model.tensors, *find_mode("float"), {});
  REQUIRE(encoder.has_value());
  CHECK(encoder->score({}).error().message ==
        "tiny model: the model is no reranker: it makes vectors of texts");
}

TEST_CASE("texts that are empty, too long or not of the vocabulary are refused") {
  const TinyModel model = make_encoder(5);
  Engine engine(1);
  axle_error error{};
  REQUIRE(engine.choose_kernels(nullptr, &error) == AXLE_OK);
  Result<Encoder> encoder =
      Encoder::load(engine, model.shape, model.tensors, *find_mode("float"), {});
  REQUIRE(encoder.has_value());
  for (const Tokens& bad : {Tokens{}, Tokens(65, 1), Tokens{61}, Tokens{-1}}) {
    const std::vector<Tokens> texts{{1, 2}, bad};
    const Result<Vectors> vectors = encoder->embed(texts, {});
    REQUIRE(!vectors.has_value());
    CHECK(vectors.error().message.starts_with("tiny model: "));
    CHECK(vectors.error().message.find("text 1") != std::string::npos);
  }
  CHECK(encoder->embed({}, {})->empty());
}

TEST_CASE("an embedding that is not finite is named") {
  Engine engine(1);
  axle_error error{};
  REQUIRE(engine.choose_kernels(nullptr, &error) == AXLE_OK);
  const std::vector<Tokens> texts{{3, 4, 5}};
  for (const char* name :
       {"embeddings.word_embeddings.weight", "embeddings.position_embeddings.weight",
        "embeddings.token_type_embeddings.weight"}) {
    TinyModel model = make_encoder(6);
    const bool is_type = std::string(name).find("type") != std::string::npos;
    const std::size_t row = is_type                                               ? 0
                            : std::string(name).find("word") != std::string::npos ? 4
                                                                                  : 2;
    model.numbers_of(name)[row * model.shape.hidden + 9] = std::nanf("");
    Result<Encoder> encoder =
        Encoder::load(engine, model.shape, model.tensors, *find_mode("a16w8"), {});
    CHECK(encoder.has_value() == !is_type);
    const std::string message =
        encoder ? encoder->embed(texts, {}).error().message : encoder.error().message;
    CHECK(message.find("tiny model: tensor \"" + std::string(name) + "\": row " +
                       std::to_string(row) + ", element 9 is not finite (nan)") == 0);
  }
}

}  // namespace axle::runtime
