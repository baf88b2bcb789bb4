#pragma once
// Small models with pseudo-random weights, as tensors in memory.

#include <cstdint>
#include <deque>
#include <vector>

#include "runtime/files/tensor_source.h"
#include "runtime/model/description/model_shape.h"

namespace axle::runtime {

struct TinyModel {
  ModelShape shape;
  TensorSource tensors{"tiny model"};
  std::deque<std::vector<float>> numbers;  ///< what the tensors point at

  /// One tensor of pseudo-random numbers of about `size`; those of norms lie around 1.
  void add(const std::string& name, std::vector<std::size_t> lengths, double size);
  std::vector<float>& numbers_of(const std::string& name);

  std::uint32_t state = 1;
};

/// Grouped-query attention, two layers, `type` as in config.json: "llama", "qwen2" with biases,
/// "qwen3" with norms of queries and keys.
TinyModel make_decoder(const std::string& type, std::uint32_t seed);
TinyModel make_encoder(std::uint32_t seed);
/// An encoder with a pooler and a classifier of one class.
TinyModel make_reranker(std::uint32_t seed);

}  // namespace axle::runtime
