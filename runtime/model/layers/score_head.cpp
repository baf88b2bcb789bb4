#include "runtime/model/layers/score_head.h"

#include "runtime/model/description/required_tensors.h"
#include "runtime/model/layers/elementary.h"

namespace axle::runtime {
namespace {

/// [rows][columns] finite floats, or an error that names the tensor.
Result<std::vector<float>> read_matrix(const TensorSource& source, const std::string& name,
                                       std::size_t rows, std::size_t columns) {
  const Result<const Tensor*> tensor = require_matrix(source, name, rows, columns);
  if (!tensor) return std::unexpected(tensor.error());
  std::vector<float> values(rows * columns);
  const Result<void> read = read_finite_rows(**tensor, source.where(), 0, rows, values.data());
  if (!read) return std::unexpected(read.error());
  return values;
}

double dot(const float* weights, std::span<const float> x) {
  double sum = 0;
  for (std::size_t i = 0; i < x.size(); ++i)
    sum += static_cast<double>(weights[i]) * static_cast<double>(x[i]);
  return sum;
}

double hyperbolic_tangent(double x) {
  constexpr double far = 40;  // from here on it is 1 in double
  if (x > far) return 1;
  if (x < -far) return -1;
  return 1 - 2 / (exponential(2 * x) + 1);
}

}  // namespace

Result<ScoreHead> ScoreHead::load(const TensorSource& source, const std::string& encoder_prefix,
                                  std::size_t hidden) {
  ScoreHead head;
  const std::string pooler = encoder_prefix + "pooler.dense";
  Result<std::vector<float>> weights = read_matrix(source, pooler + ".weight", hidden, hidden);
  if (!weights) return std::unexpected(weights.error());
  head.pooler_ = std::move(*weights);
  Result<std::vector<float>> bias = require_vector(source, pooler + ".bias", hidden);
  if (!bias) return std::unexpected(bias.error());
  head.pooler_bias_ = std::move(*bias);
  Result<std::vector<float>> classifier = read_matrix(source, "classifier.weight", 1, hidden);
  if (!classifier) return std::unexpected(classifier.error());
  head.classifier_ = std::move(*classifier);
  const Result<std::vector<float>> added = require_vector(source, "classifier.bias", 1);
  if (!added) return std::unexpected(added.error());
  head.classifier_bias_ = added->front();
  return head;
}

float ScoreHead::score(std::span<const float> first) const {
  const std::size_t width = first.size();
  std::vector<float> pooled(width);
  for (std::size_t r = 0; r < width; ++r) {
    const double sum = dot(pooler_.data() + r * width, first);
    pooled[r] = static_cast<float>(hyperbolic_tangent(sum + static_cast<double>(pooler_bias_[r])));
  }
  return static_cast<float>(dot(classifier_.data(), pooled) +
                            static_cast<double>(classifier_bias_));
}

std::size_t ScoreHead::bytes() const {
  return (pooler_.size() + pooler_bias_.size() + classifier_.size() + 1) * sizeof(float);
}

}  // namespace axle::runtime
