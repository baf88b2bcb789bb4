#pragma once
// Tensors that a model must have, in the shape that its numbers ask for.

#include <cstddef>
#include <string>
#include <vector>

#include "runtime/files/tensor_source.h"
#include "runtime/model/description/model_shape.h"
#include "runtime/result.h"

namespace axle::runtime {

/// [rows][columns] of floats, or an error that names the tensor.
[[nodiscard]] Result<const Tensor*> require_matrix(const TensorSource& source,
                                                   const std::string& name, std::size_t rows,
                                                   std::size_t columns);

/// The weights of a linear layer: floats, or quantised ones with their scales.
struct LinearTensors {
  const Tensor* weights = nullptr;
  const Tensor* scales = nullptr;  ///< null: floats
};

/// "NAME.weight", [rows][columns] of floats. Where `stored` is not null: quantised as it says, with
/// "NAME.weight_scale". int8 and float8 weights have a scale a row, int4 ones a scale for each
/// `group` of a row; those lie two a byte, each as w + 8, the first in the low half.
[[nodiscard]] Result<LinearTensors> require_linear(const TensorSource& source,
                                                   const std::string& name, std::size_t rows,
                                                   std::size_t columns,
                                                   const StoredQuantization* stored);

/// Rows [first, first + count) of a tensor of floats, [count][columns]. AXLE_MALFORMED, with
/// `where` and the tensor's name, if an element is not finite; else as read_rows.
[[nodiscard]] Result<void> read_finite_rows(const Tensor& tensor, const std::string& where,
                                            std::size_t first, std::size_t count, float* to);

/// `length` finite floats, or an error that names the tensor.
[[nodiscard]] Result<std::vector<float>> require_vector(const TensorSource& source,
                                                        const std::string& name,
                                                        std::size_t length);

}  // namespace axle::runtime
