// Schemes beside plain arithmetic in double, and the function that folding must keep.
#include <algorithm>
#include <cmath>
#include <cstring>

#include <doctest/doctest.h>

#include "runtime/half.h"
#include "runtime/model/layers/stored_rows.h"
#include "runtime/model/quantization/awq.h"
#include "runtime/model/quantization/encoder_calibration.h"
#include "runtime/model/quantization/quantize.h"
#include "tests/runtime/model/tiny_model.h"

namespace axle::runtime {
namespace {

std::vector<float> numbers(std::size_t count, std::uint32_t state) {
  std::vector<float> values(count);
  for (float& value : values) {
    state = state * 1664525U + 1013904223U;
    value =
        static_cast<float>(static_cast<double>(state >> 8U) / static_cast<double>(1U << 23U) - 1);
  }
  return values;
}

QuantizationScheme scheme_of(const char* mode, const char* method, std::size_t group) {
  const Result<QuantizationScheme> scheme = choose_scheme(*find_mode(mode), method, group);
  REQUIRE_MESSAGE(scheme.has_value(), scheme.error().message);
  return *scheme;
}

/// Weighted squared error of a row that went through a scheme.
double error_of(const QuantizationScheme& scheme, const std::vector<float>& row,
                const std::vector<float>& importance, bool tell_importance) {
  std::vector<std::uint8_t> values(scheme.bytes(row.size()));
  std::vector<float> scales(scheme.scales(row.size()));
  std::vector<float> back(row.size());
  scheme.quantise(row.data(), tell_importance ? importance.data() : nullptr, row.size(),
                  values.data(), scales.data());
  scheme.dequantise(values.data(), scales.data(), row.size(), back.data());
  double sum = 0;
  for (std::size_t i = 0; i < row.size(); ++i) {
    const double difference = static_cast<double>(row[i]) - static_cast<double>(back[i]);
    sum += difference * difference * static_cast<double>(importance[i]);
  }
  return sum;
}

std::string scheme_failure(const char* mode, const char* method, std::size_t group) {
  const Result<QuantizationScheme> scheme = choose_scheme(*find_mode(mode), method, group);
  return scheme ? "" : scheme.error().message;
}

}  // namespace

TEST_CASE("a row goes through every scheme and back within half a step") {
  const std::vector<float> row = numbers(176, 5);
  const std::vector<float> same(row.size(), 1.0F);
  const double size =
      error_of(scheme_of("a16w8", "", 0), std::vector<float>(176, 0.0F), same, false);
  CHECK(size == 0);
  CHECK(error_of(scheme_of("a16w8", "", 0), row, same, false) < 176 * std::pow(0.51 / 127, 2));
  CHECK(error_of(scheme_of("fp8", "", 0), row, same, false) < 176 * std::pow(1.0 / 16, 2) / 3);
  for (const std::size_t group : {32UL, 64UL, 128UL}) {
    CAPTURE(group);
    const double absmax = error_of(scheme_of("a16w4", "absmax", group), row, same, false);
    CHECK(absmax < 176 * std::pow(0.51 / 7, 2));
    CHECK(error_of(scheme_of("a16w4", "mse", group), row, same, false) <= absmax);
    CHECK(error_of(scheme_of("a16w4", "search", group), row, same, false) <= absmax);
  }
}

TEST_CASE("scales that know what matters lose less of it") {
  std::vector<float> row = numbers(128, 6);
  std::vector<float> importance(128, 1e-3F);
  for (std::size_t i = 0; i < 128; i += 7) {
    row[i] *= 0.3F;
    importance[i] = 100;
  }
  const QuantizationScheme scheme = scheme_of("a16w4", "awq", 64);
  CHECK(error_of(scheme, row, importance, true) < 0.7 * error_of(scheme, row, importance, false));
}

TEST_CASE("int4 values are two a byte, the first in the low half, eight more than they are") {
  std::vector<float> row(32, 0.0F);
  row[0] = 7;
  row[1] = -1;
  row[31] = -7;
  std::uint8_t values[16];
  float scale = 0;
  scheme_of("a16w4", "absmax", 32).quantise(row.data(), nullptr, 32, values, &scale);
  CHECK(scale == 1);
  CHECK(values[0] == 0x7f);
  CHECK(values[1] == 0x88);
  CHECK(values[15] == 0x18);
}

TEST_CASE("names that do not go together are no scheme") {
  CHECK(scheme_failure("float", "", 0).find("float") != std::string::npos);
  CHECK(scheme_failure("a16w8", "", 64).find("int4") != std::string::npos);
  CHECK(scheme_failure("a16w8", "search", 0).find("absmax") != std::string::npos);
  CHECK(scheme_failure("a16w4", "", 16).find("16") != std::string::npos);
  CHECK(scheme_failure("a16w4", "none", 0).find("\"none\"") != std::string::npos);
  CHECK(scheme_of("a16w4", "", 0).mode().group == 64);
  CHECK(scheme_of("da8w4", "", 128).method() == ScaleMethod::search);
  CHECK(scheme_of("fp8", "", 0).method() == ScaleMethod::absmax);
}

TEST_CASE("folding keeps the product of what is divided and what is multiplied") {
  for (const char* type : {"llama", "qwen2"}) {
    CAPTURE(type);
    TinyModel model = make_decoder(type, 21);
    Engine engine(2);
    axle_error error{};
    REQUIRE(engine.choose_kernels(nullptr, &error) == AXLE_OK);
    Result<ModelContent> content = list_content(model.shape, model.tensors);
    REQUIRE(content.has_value());
    std::vector<std::int32_t> tokens;
    for (int i = 0; i < 40; ++i) tokens.push_back(i * 7 % 101);
    const Result<void> folded = fold_activations(engine, model.shape, model.tensors, tokens,
                                                 scheme_of("a16w4", "awq", 32), {}, *content);
    REQUIRE_MESSAGE(folded.has_value(), folded.error().message);
    const auto layer = [&](const std::string& name) -> const LinearLayer& {
      for (const LinearLayer& one : content->linears) {
        if (one.name == name) return one;
      }
      return content->linears.front();
    };
    const auto vector = [&](const std::string& name) -> const std::vector<float>& {
      for (const PlainVector& one : content->vectors) {
        if (one.name == name) return one.values;
      }
      return content->vectors.front().values;
    };
    const std::string first = "model.layers.0.";
    const std::vector<float>& norm = vector(first + "input_layernorm.weight");
    const std::vector<float>& query = layer(first + "self_attn.q_proj").folding.columns;
    CHECK(query == layer(first + "self_attn.v_proj").folding.columns);
    bool folds = false;
    for (std::size_t i = 0; i < norm.size(); ++i) {
      const float before = model.numbers_of(first + "input_layernorm.weight")[i];
      CHECK(norm[i] * query[i] == doctest::Approx(before).epsilon(1e-6));
      folds = folds || query[i] != 1;
    }
    CHECK(folds);
    // Two heads share a key-value head, and so the factors of its values.
    const std::vector<float>& values = layer(first + "self_attn.v_proj").folding.rows;
    const std::vector<float>& output = layer(first + "self_attn.o_proj").folding.columns;
    REQUIRE(output.size() == 64);
    for (std::size_t i = 0; i < output.size(); ++i)
      CHECK(output[i] == values[i / 16 / 2 * 16 + i % 16]);
    CHECK(layer(first + "mlp.down_proj").folding.columns ==
          layer(first + "mlp.up_proj").folding.rows);
    if (std::strcmp(type, "qwen2") == 0)
      CHECK(vector(first + "self_attn.v_proj.bias")[3] * values[3] ==
            doctest::Approx(model.numbers_of(first + "self_attn.v_proj.bias")[3]).epsilon(1e-6));
  }
}

TEST_CASE("an encoder's calibration sees what the encoder computes, in windows of its own") {
  const TinyModel model = make_encoder(23);
  Engine engine(2);
  REQUIRE(engine.choose_kernels(nullptr, nullptr) == AXLE_OK);
  // Of 64 positions: windows of 62 tokens, with the first and the last around each.
  std::vector<std::int32_t> text{2};
  for (int i = 0; i < 100; ++i) text.push_back(i * 7 % 50 + 4);
  text.push_back(3);
  std::vector<std::vector<std::int32_t>> windows{{text.begin(), text.begin() + 63}, {2}};
  windows[0].push_back(3);
  windows[1].insert(windows[1].end(), text.begin() + 63, text.end());
  auto calibration = EncoderCalibration::begin(engine, model.shape, model.tensors, text);
  REQUIRE_MESSAGE(calibration.has_value(), calibration.error().message);
  REQUIRE(calibration->next_layer().has_value());
  const auto inputs = calibration->next_layer();
  REQUIRE(inputs.has_value());
  REQUIRE(inputs->attention.rows() == windows[0].size() + windows[1].size());
  ModelShape one_layer = model.shape;
  one_layer.layers = 1;
  auto encoder = Encoder::load(engine, one_layer, model.tensors, *find_mode("float"), {});
  REQUIRE(encoder.has_value());
  const auto vectors = encoder->embed(windows, {.kind = Pooling::Kind::first, .normalised = false});
  REQUIRE(vectors.has_value());
  for (std::size_t w = 0; w < 2; ++w) {
    const float* const row = inputs->attention.row(w * windows[0].size());
    for (std::size_t i = 0; i < model.shape.hidden; ++i)
      CHECK(row[i] == doctest::Approx((*vectors)[w][i]).epsilon(1e-5));
  }
}

TEST_CASE("folding keeps what an encoder computes, and every layer is told what matters") {
  TinyModel model = make_encoder(24);
  Engine engine(2);
  REQUIRE(engine.choose_kernels(nullptr, nullptr) == AXLE_OK);
  Result<ModelContent> content = list_content(model.shape, model.tensors);
  REQUIRE(content.has_value());
  std::vector<std::int32_t> text;
  for (int i = 0; i < 40; ++i) text.push_back(i * 7 % 61);
  const Result<void> folded = fold_activations(engine, model.shape, model.tensors, text,
                                               scheme_of("a16w4", "awq", 32), {}, *content);
  REQUIRE_MESSAGE(folded.has_value(), folded.error().message);
  const std::vector<float>* factors = nullptr;
  std::size_t with_rows = 0;
  for (const LinearLayer& one : content->linears) {
    CHECK(one.folding.importance.size() == one.weights.columns());
    CHECK(one.folding.columns.empty() == (one.kind != "attention.output"));
    if (one.name == "encoder.layer.0.attention.output.dense") factors = &one.folding.columns;
    with_rows += one.folding.rows.empty() ? 0 : 1;
  }
  CHECK(with_rows == model.shape.layers);
  REQUIRE(factors != nullptr);
  CHECK(std::any_of(factors->begin(), factors->end(), [](float one) { return one != 1; }));
  for (const LinearLayer& one : content->linears) {
    if (one.name == "encoder.layer.0.attention.self.value") CHECK(one.folding.rows == *factors);
  }
  const std::string bias = "encoder.layer.0.attention.self.value.bias";
  for (const PlainVector& one : content->vectors) {
    for (std::size_t i = 0; one.name == bias && i < one.values.size(); ++i)
      CHECK(one.values[i] * (*factors)[i] ==
            doctest::Approx(model.numbers_of(bias)[i]).epsilon(1e-6));
  }
}

TEST_CASE("a text that is too short, or of other tokens, calibrates nothing") {
  TinyModel model = make_decoder("llama", 22);
  Engine engine(1);
  axle_error error{};
  REQUIRE(engine.choose_kernels(nullptr, &error) == AXLE_OK);
  const auto message = [&](const std::vector<std::int32_t>& tokens) {
    const auto begun = Calibration::begin(engine, model.shape, model.tensors, tokens);
    return begun ? std::string() : begun.error().message;
  };
  CHECK(message({1, 2, 3}).find("3 tokens") != std::string::npos);
  CHECK(message(std::vector<std::int32_t>(20, 101)).find("token 101") != std::string::npos);
  CHECK(message(std::vector<std::int32_t>(20, -1)).find("token -1") != std::string::npos);
  CHECK(message(std::vector<std::int32_t>(20, 100)).empty());
}

TEST_CASE("a model that is stored quantised runs in its mode only") {
  ModelShape shape;
  CHECK(std::string(choose_mode(shape, "", "m")->name) == "a16w8");
  shape.stored = StoredQuantization{"da8w4", "absmax", 128};
  const Result<ModelMode> own = choose_mode(shape, "", "m");
  REQUIRE(own.has_value());
  CHECK(own->group == 128);
  CHECK(!own->signed_scales);
  CHECK(choose_mode(shape, "da8w4", "m").has_value());
  for (const char* other : {"a16w4", "float", "none"}) CHECK(!choose_mode(shape, other, "m"));
  shape.stored->group = 0;
  CHECK(!choose_mode(shape, "", "m"));
}

}  // namespace axle::runtime
