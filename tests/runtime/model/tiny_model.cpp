#include "tests/runtime/model/tiny_model.h"

#include <cmath>

namespace axle::runtime {

void TinyModel::add(const std::string& name, std::vector<std::size_t> lengths, double size) {
  std::size_t count = 1;
  for (const std::size_t length : lengths) count *= length;
  const bool norm =
      name.find("norm") != std::string::npos || name.find("Norm.weight") != std::string::npos;
  std::vector<float>& values = numbers.emplace_back(count);
  for (float& value : values) {
    state = state * 1664525U + 1013904223U;
    const double uniform = static_cast<double>(state >> 8U) / static_cast<double>(1U << 23U) - 1;
    value = static_cast<float>((norm ? 1.0 : 0.0) + size * uniform);
  }
  auto file = std::make_unique<ModelFile>(
      ModelFile::in_memory(std::as_bytes(std::span(values)), "tiny model"));
  (void)tensors.add({.name = name,
                     .type = TensorType::float32,
                     .shape = std::move(lengths),
                     .file = file.get(),
                     .bytes = count * sizeof(float)});
  tensors.keep(std::move(file));
}

std::vector<float>& TinyModel::numbers_of(const std::string& name) {
  for (std::size_t i = 0; i < numbers.size(); ++i) {
    if (tensors.tensors()[i].name == name) return numbers[i];
  }
  return numbers.front();
}

TinyModel make_decoder(const std::string& type, std::uint32_t seed) {
  TinyModel model;
  model.state = seed;
  ModelShape& s = model.shape;
  s.type = type;
  s.hidden = 64;
  s.layers = 2;
  s.heads = 4;
  s.key_heads = 2;
  s.head_depth = 16;
  s.feed_forward = 176;
  s.vocabulary = 101;
  s.context = 128;
  s.rotary.theta = 10000;
  s.tied_embeddings = type == "qwen2";
  model.add("model.embed_tokens.weight", {s.vocabulary, s.hidden}, 1);
  const double size = 1 / std::sqrt(static_cast<double>(s.hidden));
  for (std::size_t i = 0; i < s.layers; ++i) {
    const std::string layer = "model.layers." + std::to_string(i) + ".";
    const std::string attention = layer + "self_attn.";
    model.add(layer + "input_layernorm.weight", {s.hidden}, 0.2);
    model.add(attention + "q_proj.weight", {s.query_width(), s.hidden}, 3 * size);
    model.add(attention + "k_proj.weight", {s.key_width(), s.hidden}, 3 * size);
    model.add(attention + "v_proj.weight", {s.key_width(), s.hidden}, 2 * size);
    model.add(attention + "o_proj.weight", {s.hidden, s.query_width()}, 2 * size);
    if (type == "qwen2") {
      model.add(attention + "q_proj.bias", {s.query_width()}, 0.3);
      model.add(attention + "k_proj.bias", {s.key_width()}, 0.3);
      model.add(attention + "v_proj.bias", {s.key_width()}, 0.3);
    }
    if (type == "qwen3") {
      model.add(attention + "q_norm.weight", {s.head_depth}, 0.2);
      model.add(attention + "k_norm.weight", {s.head_depth}, 0.2);
    }
    model.add(layer + "post_attention_layernorm.weight", {s.hidden}, 0.2);
    model.add(layer + "mlp.gate_proj.weight", {s.feed_forward, s.hidden}, 2 * size);
    model.add(layer + "mlp.up_proj.weight", {s.feed_forward, s.hidden}, 2 * size);
    model.add(layer + "mlp.down_proj.weight", {s.hidden, s.feed_forward}, 2 * size);
  }
  model.add("model.norm.weight", {s.hidden}, 0.2);
  if (!s.tied_embeddings) model.add("lm_head.weight", {s.vocabulary, s.hidden}, 3 * size);
  return model;
}

TinyModel make_encoder(std::uint32_t seed) {
  TinyModel model;
  model.state = seed;
  ModelShape& s = model.shape;
  s.type = "bert";
  s.architecture = Architecture::encoder;
  s.hidden = 48;
  s.layers = 2;
  s.heads = s.key_heads = 3;
  s.head_depth = 16;
  s.feed_forward = 96;
  s.vocabulary = 61;
  s.context = 64;
  s.segments = 2;
  s.norm_epsilon = 1e-12F;
  model.add("embeddings.word_embeddings.weight", {s.vocabulary, s.hidden}, 1);
  model.add("embeddings.position_embeddings.weight", {s.context, s.hidden}, 0.3);
  model.add("embeddings.token_type_embeddings.weight", {s.segments, s.hidden}, 0.3);
  const auto norm = [&](const std::string& name) {
    model.add(name + ".weight", {s.hidden}, 0.2);
    model.add(name + ".bias", {s.hidden}, 0.2);
  };
  const auto dense = [&](const std::string& name, std::size_t rows, std::size_t columns) {
    model.add(name + ".weight", {rows, columns}, 2 / std::sqrt(static_cast<double>(columns)));
    model.add(name + ".bias", {rows}, 0.2);
  };
  norm("embeddings.LayerNorm");
  for (std::size_t i = 0; i < s.layers; ++i) {
    const std::string layer = "encoder.layer." + std::to_string(i) + ".";
    for (const char* part : {"query", "key", "value"})
      dense(layer + "attention.self." + part, s.hidden, s.hidden);
    dense(layer + "attention.output.dense", s.hidden, s.hidden);
    norm(layer + "attention.output.LayerNorm");
    dense(layer + "intermediate.dense", s.feed_forward, s.hidden);
    dense(layer + "output.dense", s.hidden, s.feed_forward);
    norm(layer + "output.LayerNorm");
  }
  return model;
}

TinyModel make_reranker(std::uint32_t seed) {
  TinyModel model = make_encoder(seed);
  const std::size_t hidden = model.shape.hidden;
  model.shape.classes = 1;
  model.add("pooler.dense.weight", {hidden, hidden}, 0.2);
  model.add("pooler.dense.bias", {hidden}, 0.2);
  model.add("classifier.weight", {1, hidden}, 0.5);
  model.add("classifier.bias", {1}, 0.5);
  return model;
}

}  // namespace axle::runtime
