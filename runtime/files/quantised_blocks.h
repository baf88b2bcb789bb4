#pragma once
// ggml's quantised blocks as floats, by the same operations in float (its dequantize_row_…).

#include <cstddef>

#include "runtime/files/tensor.h"

namespace axle::runtime {

/// `count` blocks of a type that has blocks, one after the other.
void read_blocks(TensorType type, const std::byte* from, std::size_t count, float* to);

}  // namespace axle::runtime
