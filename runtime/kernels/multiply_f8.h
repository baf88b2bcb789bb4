#pragma once
// float8 weights (e4m3: sign, four bits of exponent with a bias of 7, three of fraction) times
// floats. multiply.h comes first. The bits of a weight, moved to the places that they have in a
// float, are its value times 2^-120, subnormal ones included: no table, no case.

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

template <int rows, int width>
AXLE_TARGET void f8_pass(const std::uint8_t* weights, const float* x, std::size_t row_stride,
                         std::size_t steps, float* sums, Prefetch& prefetch) {
  Vector::Floats total[rows][width];
  AXLE_UNROLL
  for (int r = 0; r < rows; ++r) {
    AXLE_UNROLL
    for (int c = 0; c < width; ++c)
      total[r][c] = Vector::load_floats(sums + r * block_columns + c * vector_lanes);
  }
  for (std::size_t step = 0; step < steps; ++step) {
    if (step % steps_unrolled == 0) Prefetch::advance(prefetch);
    Vector::Ints bytes[width];
    AXLE_UNROLL
    for (int c = 0; c < width; ++c) bytes[c] = Vector::load_ints(weights + c * Vector::bytes);
    f8_add<0>(bytes, x, row_stride, total);
    f8_add<1>(bytes, x, row_stride, total);
    f8_add<2>(bytes, x, row_stride, total);
    f8_add<3>(bytes, x, row_stride, total);
    weights += step_bytes;
    x += step_depth;
  }
  AXLE_UNROLL
  for (int r = 0; r < rows; ++r) {
    AXLE_UNROLL
    for (int c = 0; c < width; ++c)
      Vector::store_floats(sums + r * block_columns + c * vector_lanes, total[r][c]);
  }
}

inline constexpr std::size_t f8_most_rows = 4;
inline constexpr int f8_width = Vector::registers == 32 ? 4 : 2;

template <int rows>
AXLE_TARGET void f8_columns(const F8Product& product, std::size_t row, std::size_t step,
                            std::size_t steps, Prefetch& prefetch) {
  const std::size_t row_stride = product.row_bytes / sizeof(float);
  for (std::size_t c = 0; c < block_columns; c += f8_width * vector_lanes)
    f8_pass<rows, f8_width>(product.weights + step * step_bytes + c * step_depth,
                            product.activations + row * row_stride + step * step_depth, row_stride,
                            steps, product.sums + row * block_columns + c, prefetch);
}

AXLE_TARGET void multiply_f8(const F8Product& product) {
  const std::size_t steps = product.depth / step_depth;
  const std::size_t groups = (product.rows + f8_most_rows - 1) / f8_most_rows;
  const std::size_t passes = groups * block_columns / (f8_width * vector_lanes);
  const bool near = groups <= 4;
  const std::size_t block = passes == 1 ? steps : near ? 64 : 128;
  const std::size_t ahead = passes == 1 ? 4096 : block * step_bytes;
  for (std::size_t i = 0; i < product.rows * block_columns; i += vector_lanes)
    Vector::store_floats(product.sums + i, Vector::broadcast_float(0));
  for (std::size_t step = 0; step < steps; step += block) {
    const std::size_t count = steps - step < block ? steps - step : block;
    const char* const from =
        reinterpret_cast<const char*>(product.weights) + step * step_bytes + ahead;
    Prefetch prefetch{from, from + count * step_bytes, (16 + passes - 1) / passes, near};
    for (std::size_t group = 0; group < groups; ++group) {
      const std::size_t row = product.rows * group / groups;
      const std::size_t rows = product.rows * (group + 1) / groups - row;
      if (rows == 1) f8_columns<1>(product, row, step, count, prefetch);
      if (rows == 2) f8_columns<2>(product, row, step, count, prefetch);
      if (rows == 3) f8_columns<3>(product, row, step, count, prefetch);
      if (rows == 4) f8_columns<4>(product, row, step, count, prefetch);
    }
  }
}

}  // namespace
}  // namespace axle::runtime
