#pragma once
// The steps around products whose sums are floats (4-bit and float8 weights), element by element
// as those of float_steps.h, which comes first.

#include <cstddef>
#include <cstdint>

#include "runtime/kernel.h"

namespace axle::runtime {
namespace {

AXLE_VECTOR_OP std::int32_t sum_of_lanes(Vector::Ints v) {
  alignas(Vector::bytes) std::int32_t lanes[vector_lanes];
  Vector::store_ints(lanes, v);
  std::int32_t sum = 0;
  for (const std::int32_t lane : lanes) sum += lane;
  return sum;
}

/// `Store` as in quantise.
template <class Store>
AXLE_TARGET void quantise_w4(const W4Row& row) {
  const Vector::Floats factor = Vector::broadcast_float(row.inverse_scale);
  const Vector::Ints half = Vector::broadcast_int(128);
  for (std::size_t from = 0; from < row.count; from += row.group) {
    Vector::Ints sum = Vector::zero();
    for (std::size_t i = from; i < from + row.group; i += vector_lanes) {
      const Vector::Ints q =
          Vector::round(Vector::multiply(Vector::load_floats(row.x + i), factor));
      sum = Vector::add(sum, q);
      if (row.low == nullptr) {
        Store::store(row.high, i, q);
      } else {
        const Vector::Ints upper = Vector::shift_right_8(Vector::add(q, half));
        Store::store(row.high, i, upper);
        Store::store(row.low, i, Vector::subtract(q, Vector::shift_left_8(upper)));
      }
    }
    row.offsets[from / row.group] = -8 * sum_of_lanes(sum);
  }
}

/// How rows for float8 weights are stored: as floats.
struct AsFloats {
  AXLE_VECTOR_OP void store(void* to, std::size_t i, Vector::Floats v) {
    Vector::store_floats(static_cast<float*>(to) + i, v);
  }
};

/// `Store` keeps the values, each of them a bfloat16.
template <class Store>
AXLE_TARGET void quantise_f8(const F8Row& row) {
  const Vector::Floats first = Vector::broadcast_float(row.first);
  const Vector::Floats second = Vector::broadcast_float(row.second);
  const Vector::Ints half = Vector::broadcast_int(0x7fff);
  const Vector::Ints one = Vector::broadcast_int(1);
  const Vector::Ints bfloat16 = Vector::broadcast_int(-0x10000);
  const Vector::Ints magnitude = Vector::broadcast_int(0x7fffffff);
  const Vector::Ints least = Vector::broadcast_int((127 + 20) << 23);
  const Vector::Ints all = Vector::broadcast_int(-1);
  for (std::size_t i = 0; i < row.count; i += vector_lanes) {
    const Vector::Ints bits = Vector::as_ints(
        Vector::multiply(Vector::multiply(Vector::load_floats(row.x + i), first), second));
    const Vector::Ints odd = Vector::bit_and(Vector::shift_right<16>(bits), one);
    const Vector::Ints nearest =
        Vector::bit_and(Vector::add(Vector::add(bits, half), odd), bfloat16);
    const Vector::Ints below = Vector::shift_right_signed<31>(
        Vector::subtract(Vector::bit_and(nearest, magnitude), least));
    Store::store(row.to, i,
                 Vector::as_floats(Vector::bit_and(nearest, Vector::bit_xor(below, all))));
  }
}

AXLE_TARGET void finish_floats(const FloatResult& result) {
  for (std::size_t r = 0; r < result.rows; ++r) {
    const Vector::Floats row_scale = Vector::broadcast_float(result.row_scales[r]);
    for (std::size_t c = 0; c < block_columns; c += vector_lanes) {
      Vector::Floats factor = row_scale;
      if (result.column_scales != nullptr)
        factor = Vector::multiply(row_scale, Vector::load_floats(result.column_scales + c));
      Vector::Floats y =
          Vector::multiply(Vector::load_floats(result.sums + r * block_columns + c), factor);
      if (result.bias != nullptr) y = Vector::add_floats(y, Vector::load_floats(result.bias + c));
      Vector::store_floats(result.y + r * result.row_floats + c, y);
    }
  }
}

}  // namespace
}  // namespace axle::runtime
