#pragma once
// Tensors that a model must have, in the shape that its numbers ask for.

#include <cstddef>
#include <string>
#include <vector>

#include "runtime/files/tensor_source.h"
#include "runtime/result.h"

namespace axle::runtime {

/// [rows][columns] of floats, or an error that names the tensor.
[[nodiscard]] Result<const Tensor*> require_matrix(const TensorSource& source,
                                                   const std::string& name, std::size_t rows,
                                                   std::size_t columns);

/// `length` finite floats, or an error that names the tensor.
[[nodiscard]] Result<std::vector<float>> require_vector(const TensorSource& source,
                                                        const std::string& name,
                                                        std::size_t length);

}  // namespace axle::runtime
