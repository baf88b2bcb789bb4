#pragma once
// Rows of x in the types that callers hand in, as float.

#include <cstddef>

#include "runtime/axle_runtime.h"

namespace axle::runtime {

/// Bytes of one element of x; 0 for a type that x cannot have.
[[nodiscard]] std::size_t activation_bytes(axle_type type);

/// `count` elements from `from` as float; exact for every value, subnormal ones included.
void convert_to_float(axle_type type, const void* from, std::size_t count, float* to);

}  // namespace axle::runtime
