#pragma once
// float8 weights (e4m3: sign, four bits of exponent with a bias of 7, three of fraction) times
// rows of bfloat16 in floats. multiply.h comes first. The bits of a weight, moved to the places
// that they have in a float, are its value times 2^-120, subnormal ones included: no table, no
// case.

#include <cstddef>
#include <cstdint>

#include "runtime/kernel.h"

namespace axle::runtime {
namespace {

/// Byte `j` of each lane as a float, times 2^-120.
template <int j>
AXLE_VECTOR_OP Vector::Floats f8_weights(Vector::Ints bytes) {
  if constexpr (j < 3) bytes = Vector::shift_left<24 - 8 * j>(bytes);
  return Vector::as_floats(
      Vector::bit_and(Vector::shift_right_signed<4>(bytes),
                      Vector::broadcast_int(static_cast<std::int32_t>(0x87f00000U))));
}

/// Adds the products of byte `j` of each lane.
template <int j, int rows, int width>
AXLE_VECTOR_OP void f8_add(const Vector::Ints (&bytes)[width], const float* x,
                           std::size_t row_stride, Vector::Floats (&total)[rows][width]) {
  Vector::Floats weight[width];
  AXLE_UNROLL
  for (int c = 0; c < width; ++c) weight[c] = f8_weights<j>(bytes[c]);
  AXLE_UNROLL
  for (int r = 0; r < rows; ++r) {
    const Vector::Floats a = Vector::broadcast_float(x[r * row_stride + j]);
    AXLE_UNROLL
    for (int c = 0; c < width; ++c)
      total[r][c] = Vector::add_floats(total[r][c], Vector::multiply(a, weight[c]));
  }
}

inline constexpr std::size_t f8_steps = f8_depth / step_depth;

/// f8_depth of k.
template <int rows, int width>
AXLE_VECTOR_OP void f8_sum(const std::uint8_t* weights, const float* x, std::size_t row_stride,
                           float* sums) {
  Vector::Floats even[rows][width];
  Vector::Floats odd[rows][width];
  AXLE_UNROLL
  for (int r = 0; r < rows; ++r) {
    AXLE_UNROLL
    for (int c = 0; c < width; ++c) even[r][c] = odd[r][c] = Vector::broadcast_float(0);
  }
  for (std::size_t step = 0; step < f8_steps; ++step) {
    Vector::Ints bytes[width];
    AXLE_UNROLL
    for (int c = 0; c < width; ++c) bytes[c] = Vector::load_ints(weights + c * Vector::bytes);
    f8_add<0>(bytes, x, row_stride, even);
    f8_add<1>(bytes, x, row_stride, odd);
    f8_add<2>(bytes, x, row_stride, even);
    f8_add<3>(bytes, x, row_stride, odd);
    weights += step_bytes;
    x += step_depth;
  }
  AXLE_UNROLL
  for (int r = 0; r < rows; ++r) {
    AXLE_UNROLL
    for (int c = 0; c < width; ++c) {
      float* const to = sums + r * block_columns + c * vector_lanes;
      Vector::store_floats(to, Vector::add_floats(Vector::load_floats(to),
                                                  Vector::add_floats(even[r][c], odd[r][c])));
    }
  }
}

inline constexpr std::size_t f8_most_rows = 4;

/// Vectors side by side: two sums for each and row fill half of the registers.
constexpr int f8_width(int rows) { return Vector::registers / (rows <= 2 ? 8 : 16); }

template <int rows>
AXLE_TARGET void f8_columns(const F8Product& product, std::size_t row, std::size_t step,
                            std::size_t steps, Ahead& ahead) {
  constexpr int width = f8_width(rows);
  const std::size_t row_stride = product.row_bytes / sizeof(float);
  const float* const x =
      static_cast<const float*>(product.activations) + row * row_stride + step * step_depth;
  for (std::size_t c = 0; c < block_columns; c += width * vector_lanes) {
    for (std::size_t done = 0; done < steps; done += f8_steps) {
      for (std::size_t i = 0; i < f8_steps; i += steps_unrolled) advance(ahead);
      f8_sum<rows, width>(product.weights + (step + done) * step_bytes + c * step_depth,
                          x + done * step_depth, row_stride,
                          product.sums + row * block_columns + c);
    }
  }
}

/// Tiles have their own.
[[maybe_unused]] AXLE_TARGET void multiply_f8(const F8Product& product) {
  const std::size_t steps = product.depth / step_depth;
  const std::size_t groups = (product.rows + f8_most_rows - 1) / f8_most_rows;
  const int width = f8_width(product.rows <= 2 ? 1 : static_cast<int>(f8_most_rows));
  const std::size_t passes =
      groups * block_columns / (static_cast<std::size_t>(width) * vector_lanes);
  const bool streams = passes == 1;
  const bool near = groups <= 4;
  const std::size_t block = streams ? steps : near ? 64 : 128;
  const std::size_t distance = streams ? 4096 : block * step_bytes;
  for (std::size_t i = 0; i < product.rows * block_columns; i += vector_lanes)
    Vector::store_floats(product.sums + i, Vector::broadcast_float(0));
  for (std::size_t step = 0; step < steps; step += block) {
    const std::size_t count = steps - step < block ? steps - step : block;
    Ahead ahead = ahead_of(product.weights + step * step_bytes, count * step_bytes, distance,
                           (16 + passes - 1) / passes, near, streams && product.in_turn);
    for (std::size_t group = 0; group < groups; ++group) {
      const std::size_t row = product.rows * group / groups;
      const std::size_t rows = product.rows * (group + 1) / groups - row;
      if (rows == 1) f8_columns<1>(product, row, step, count, ahead);
      if (rows == 2) f8_columns<2>(product, row, step, count, ahead);
      if (rows == 3) f8_columns<3>(product, row, step, count, ahead);
      if (rows == 4) f8_columns<4>(product, row, step, count, ahead);
    }
  }
}

}  // namespace
}  // namespace axle::runtime
