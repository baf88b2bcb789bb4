#pragma once
// The tensors of a model as its quantised folder has them: linear layers, and what stays as it is.

#include <string>
#include <vector>

#include "runtime/files/tensor_source.h"
#include "runtime/model/description/model_shape.h"
#include "runtime/model/description/tensor_names.h"
#include "runtime/model/layers/weight_rows.h"
#include "runtime/result.h"

namespace axle::runtime {

/// Factors that are found before weights are quantised (AWQ). The function of the model stays the
/// same: what divides a layer's input multiplies its columns.
struct Folding {
  std::vector<float> columns;     ///< multiply the weights of an input channel; empty: 1
  std::vector<float> rows;        ///< divide the weights, and the bias, of an output channel
  std::vector<float> importance;  ///< of input channels, after folding: E[x^2]
};

struct LinearLayer {
  std::string name;  ///< without ".weight"
  std::string kind;  ///< "q_proj"
  WeightRows weights;
  Folding folding{};
};

/// A vector, norm or bias, that is written as float32.
struct PlainVector {
  std::string name;
  std::vector<float> values;
};

struct ModelContent {
  std::vector<LinearLayer> linears;
  std::vector<PlainVector> vectors;
  /// Embeddings and whatever else there is (kept_tensor.h).
  std::vector<std::pair<std::string, const Tensor*>> kept;
};

/// Every tensor is checked. The content points into `source`.
[[nodiscard]] Result<ModelContent> list_content(const ModelShape& shape,
                                                const TensorSource& source);

/// Rows [first, first + count) with the folding, [count][columns].
[[nodiscard]] Result<void> read_folded(const LinearLayer& layer, std::size_t first,
                                       std::size_t count, float* to);

}  // namespace axle::runtime
