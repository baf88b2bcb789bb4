#pragma once
// The steps before and after the integer product, written once in the operations of `Vector`
// (a vector header must be included first). Each is element by element: the same bytes at every
// width.

#include <cstddef>
#include <cstdint>

#include "runtime/kernel.h"

namespace axle::runtime {
namespace {

inline constexpr std::size_t vector_lanes = Vector::bytes / 4;

AXLE_TARGET std::uint32_t largest_magnitude(const float* x, std::size_t count) {
  const Vector::Ints without_sign = Vector::broadcast_int(0x7fffffff);
  Vector::Ints most = Vector::zero();
  for (std::size_t i = 0; i < count; i += vector_lanes)
    most = Vector::largest(most, Vector::bit_and(Vector::load_ints(x + i), without_sign));
  alignas(Vector::bytes) std::uint32_t lanes[vector_lanes];
  Vector::store_ints(lanes, most);
  std::uint32_t result = 0;
  for (const std::uint32_t lane : lanes) result = lane > result ? lane : result;
  return result;
}

/// `Store` is one of the three below: how one vector of quantised values is written at element i.
template <class Store>
AXLE_TARGET void quantise(const float* x, std::size_t count, float inverse_scale, void* high,
                          void* low) {
  const Vector::Floats factor = Vector::broadcast_float(inverse_scale);
  const Vector::Ints half = Vector::broadcast_int(128);
  for (std::size_t i = 0; i < count; i += vector_lanes) {
    const Vector::Ints q = Vector::round(Vector::multiply(Vector::load_floats(x + i), factor));
    if (low == nullptr) {
      Store::store(high, i, q);
    } else {
      const Vector::Ints upper = Vector::shift_right_8(Vector::add(q, half));
      Store::store(high, i, upper);
      Store::store(low, i, Vector::subtract(q, Vector::shift_left_8(upper)));
    }
  }
}

struct AsInt16 {
  AXLE_VECTOR_OP void store(void* to, std::size_t i, Vector::Ints v) {
    Vector::store_int16(static_cast<std::int16_t*>(to) + i, v);
  }
};
struct AsInt8 {
  AXLE_VECTOR_OP void store(void* to, std::size_t i, Vector::Ints v) {
    Vector::store_int8(static_cast<std::int8_t*>(to) + i, v);
  }
};
/// v + 128 as a byte has v's lower seven bits; as int8 it is v with all bits above them inverted.
struct AsOffsetUint8 {
  AXLE_VECTOR_OP void store(void* to, std::size_t i, Vector::Ints v) {
    Vector::store_int8(static_cast<std::int8_t*>(to) + i,
                       Vector::bit_xor(v, Vector::broadcast_int(-128)));
  }
};

AXLE_TARGET void finish(const BlockResult& result) {
  const Vector::Floats plane = Vector::broadcast_float(256.0F);
  for (std::size_t r = 0; r < result.rows; ++r) {
    const Vector::Floats row_scale = Vector::broadcast_float(result.row_scales[r]);
    const std::size_t row = r * block_columns;
    float* const y = result.y + r * result.row_floats;
    for (std::size_t c = 0; c < block_columns; c += vector_lanes) {
      Vector::Floats sum = Vector::to_floats(Vector::load_ints(result.high + row + c));
      if (result.low != nullptr)
        sum = Vector::add_floats(Vector::multiply(sum, plane),
                                 Vector::to_floats(Vector::load_ints(result.low + row + c)));
      sum = Vector::multiply(
          sum, Vector::multiply(row_scale, Vector::load_floats(result.column_scales + c)));
      if (result.bias != nullptr)
        sum = Vector::add_floats(sum, Vector::load_floats(result.bias + c));
      Vector::store_floats(y + c, sum);
    }
  }
}

}  // namespace
}  // namespace axle::runtime
