#pragma once
// The integer product by SMMLA (FEAT_I8MM): two rows of eight activations times two columns of
// eight weights. Two steps of four weights lie 256 bytes apart; zipped they are eight of each
// column.

#include <cstddef>
#include <cstdint>

#include "runtime/kernel.h"
#include "runtime/kernels/multiply.h"

namespace axle::runtime {
namespace {

inline constexpr int most_row_pairs = 4;
inline constexpr int column_pairs = 4;  ///< of one pass: 16 sums in registers with four row pairs
inline constexpr std::size_t matrix_columns = 2 * column_pairs;
inline constexpr std::size_t matrix_steps = 128;  ///< 32 KiB of weights stay near for all row pairs

/// Eight columns of two steps.
AXLE_VECTOR_OP void load_columns(const std::int8_t* from, Vector::Ints (&weights)[column_pairs]) {
  AXLE_UNROLL
  for (int c = 0; c < column_pairs; c += 2) {
    const Vector::Ints earlier = Vector::load_ints(from + 8 * c);
    const Vector::Ints later = Vector::load_ints(from + 8 * c + step_bytes);
    weights[c] = Vector::zip_low(earlier, later);
    weights[c + 1] = Vector::zip_high(earlier, later);
  }
}

/// `Pairs` pairs of rows times eight columns. Of an odd number of rows the last is computed with
/// what follows it in the buffers, which hold rows rounded up to 16.
template <int Pairs>
AXLE_TARGET [[gnu::noinline]] void matrix_pass(const std::int8_t* weights,
                                               const std::int8_t* activations,
                                               std::size_t row_bytes, std::size_t steps,
                                               std::int32_t* sums, bool first) {
  Vector::Ints total[Pairs][column_pairs];
  AXLE_UNROLL
  for (int p = 0; p < Pairs; ++p) {
    AXLE_UNROLL
    for (int c = 0; c < column_pairs; ++c) {
      const std::int32_t* const from = sums + 2 * p * block_columns + 2 * c;
      total[p][c] = first ? Vector::zero()
                          : Vector::load_halves_of(
                                reinterpret_cast<const std::int8_t*>(from),
                                reinterpret_cast<const std::int8_t*>(from + block_columns));
    }
  }
  for (std::size_t step = 0; step < steps; step += 2) {
    Vector::Ints weight[column_pairs];
    load_columns(weights + step * step_bytes, weight);
    AXLE_UNROLL
    for (int p = 0; p < Pairs; ++p) {
      const std::int8_t* const row = activations + 2 * p * row_bytes + step * step_depth;
      const Vector::Ints rows = Vector::load_halves_of(row, row + row_bytes);
      AXLE_UNROLL
      for (int c = 0; c < column_pairs; ++c)
        total[p][c] = Vector::add_matrix(total[p][c], rows, weight[c]);
    }
  }
  AXLE_UNROLL
  for (int p = 0; p < Pairs; ++p) {
    AXLE_UNROLL
    for (int c = 0; c < column_pairs; ++c) {
      std::int32_t* const to = sums + 2 * p * block_columns + 2 * c;
      Vector::store_halves(to, to + block_columns, total[p][c]);
    }
  }
}

/// All columns of some pairs of rows.
template <int Pairs>
AXLE_TARGET void all_columns_of(const BlockProduct& product, std::size_t pair, std::size_t step,
                                std::size_t steps) {
  const std::int8_t* const activations = static_cast<const std::int8_t*>(product.activations) +
                                         2 * pair * product.row_bytes + step * step_depth;
  for (std::size_t column = 0; column < block_columns; column += matrix_columns)
    matrix_pass<Pairs>(product.weights + step * step_bytes + column * step_depth, activations,
                       product.row_bytes, steps, product.sums + 2 * pair * block_columns + column,
                       step == 0 && !product.continues);
}

AXLE_TARGET void multiply_matrices(const BlockProduct& product) {
  const std::size_t steps = product.depth / step_depth;
  const std::size_t pairs = (product.rows + 1) / 2;
  for (std::size_t step = 0; step < steps; step += matrix_steps) {
    const std::size_t count = steps - step < matrix_steps ? steps - step : matrix_steps;
    for (std::size_t pair = 0; pair < pairs; pair += std::size_t{most_row_pairs}) {
      switch (pairs - pair) {
        case 1:
          all_columns_of<1>(product, pair, step, count);
          break;
        case 2:
          all_columns_of<2>(product, pair, step, count);
          break;
        case 3:
          all_columns_of<3>(product, pair, step, count);
          break;
        default:
          all_columns_of<most_row_pairs>(product, pair, step, count);
          break;
      }
    }
  }
}

}  // namespace
}  // namespace axle::runtime
