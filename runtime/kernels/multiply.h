#pragma once
// The integer product of one column block with all rows, written once over a `Product`: how many
// weights a vector takes and what one multiply-accumulate is, how many rows it takes at a time, and
// up to how many rows it is faster to make int8 of 4-bit weights for each such group of rows than
// once for all (two_level.h). A vector header comes first.
//
// Rows go in groups that fit the registers. With one group the weights stream through once; with
// more, the depth is cut into blocks that stay in a cache while all groups pass over them, and the
// prefetches of what comes next are spread evenly over the passes.

#include <cstddef>
#include <cstdint>

#include "runtime/kernel.h"
#include "runtime/kernels/ahead.h"
#include "runtime/kernels/lanes.h"

namespace axle::runtime {
namespace {

/// A step is four k of the depth: 256 bytes of a column block, four cache lines.
inline constexpr std::size_t step_depth = 4;
inline constexpr std::size_t step_bytes = step_depth * block_columns;
inline constexpr std::size_t steps_unrolled = 4;

#ifdef AXLE_VECTOR_HAS_NEIGHBOUR_SUMS
/// Widened weights times int16 activations, neighbouring products added: any x86-64 CPU.
struct PairProduct {
  using Activation = std::int16_t;
  static constexpr int most_rows = 4;
  static constexpr std::size_t most_scaled_rows = 0;
  static constexpr std::size_t weight_bytes = Vector::bytes / 2;
  static constexpr std::size_t columns = weight_bytes / step_depth;

  AXLE_VECTOR_OP Vector::Ints start(const Activation* /*row*/, std::size_t /*row_stride*/,
                                    const std::int32_t* /*correction*/) {
    return Vector::zero();
  }
  AXLE_VECTOR_OP Vector::Ints resume(const std::int32_t* /*sums*/) { return Vector::zero(); }
  AXLE_VECTOR_OP Vector::Ints weights(const std::int8_t* from) { return Vector::widen(from); }
  AXLE_VECTOR_OP Vector::Ints activations(const std::int16_t* from) {
    return Vector::broadcast_four_int16(from);
  }
  AXLE_VECTOR_OP Vector::Ints add(Vector::Ints sums, Vector::Ints activation, Vector::Ints weight) {
    return Vector::add_pairs_multiplied(sums, activation, weight);
  }
  AXLE_VECTOR_OP void store(std::int32_t* to, Vector::Ints v, bool first) {
    Vector::store_neighbour_sums(to, v, first);
  }
};
#endif

#ifdef AXLE_VECTOR_HAS_DOT
/// VPDPBUSD: uint8 activations (shifted by 128) times int8 weights; the shift is taken out again
/// by the columns' correction, modulo 2^32.
struct OffsetProduct {
  using Activation = std::uint8_t;
  static constexpr int most_rows = 6;
  static constexpr std::size_t most_scaled_rows = Vector::registers == 32 ? 48 : 16;
  static constexpr std::size_t weight_bytes = Vector::bytes;
  static constexpr std::size_t columns = weight_bytes / step_depth;

  AXLE_VECTOR_OP Vector::Ints start(const Activation* /*row*/, std::size_t /*row_stride*/,
                                    const std::int32_t* correction) {
    return Vector::subtract(Vector::zero(), Vector::load_ints(correction));
  }
  AXLE_VECTOR_OP Vector::Ints resume(const std::int32_t* sums) { return Vector::load_ints(sums); }
  AXLE_VECTOR_OP Vector::Ints weights(const std::int8_t* from) { return Vector::load_ints(from); }
  AXLE_VECTOR_OP Vector::Ints activations(const std::uint8_t* from) {
    return Vector::broadcast_four_bytes(from);
  }
  AXLE_VECTOR_OP Vector::Ints add(Vector::Ints sums, Vector::Ints activation, Vector::Ints weight) {
    return Vector::add_dot(sums, activation, weight);
  }
  AXLE_VECTOR_OP void store(std::int32_t* to, Vector::Ints v, bool /*first*/) {
    Vector::store_ints(to, v);
  }
};
#endif

/// A depth range of one column block, its rows from `row` on.
struct Range {
  std::size_t row;
  std::size_t step;
  std::size_t steps;
};

/// Weights as they are multiplied: [depth/4][64][4] int8.
struct Int8Weights {
  static constexpr std::size_t bytes_a_step = step_bytes;
  const std::int8_t* weights;

  /// Adds the products of `steps` steps from `step` on to the sums of `Rows` rows and of `Width`
  /// vectors of columns from `column` on.
  template <class Product, int Rows, int Width>
  AXLE_VECTOR_OP void multiply(const Int8Weights& all, std::size_t column, std::size_t step,
                               std::size_t steps, const typename Product::Activation* activations,
                               std::size_t row_stride, Vector::Ints (&total)[Rows][Width],
                               Ahead& ahead) {
    const std::int8_t* weights = all.weights + step * step_bytes + column * step_depth;
    for (std::size_t done = 0; done < steps; done += steps_unrolled) {
      advance(ahead);
      AXLE_UNROLL
      for (std::size_t u = 0; u < steps_unrolled; ++u) {
        Vector::Ints weight[Width];
        AXLE_UNROLL
        for (int c = 0; c < Width; ++c)
          weight[c] = Product::weights(weights + u * step_bytes + c * Product::weight_bytes);
        AXLE_UNROLL
        for (int r = 0; r < Rows; ++r) {
          const auto a = Product::activations(activations + r * row_stride + u * step_depth);
          AXLE_UNROLL
          for (int c = 0; c < Width; ++c) total[r][c] = Product::add(total[r][c], a, weight[c]);
        }
      }
      weights += steps_unrolled * step_bytes;
      activations += steps_unrolled * step_depth;
    }
  }
};

/// One pass over a range: `Rows` rows times `Width` vectors of columns from `column` on.
template <class Product, int Rows, int Width, class Weights>
AXLE_TARGET [[gnu::noinline]] void pass(const BlockProduct& product, const Weights& weights,
                                        const Range& range, std::size_t column, Ahead& ahead) {
  using Activation = typename Product::Activation;
  const std::size_t row_stride = product.row_bytes / sizeof(Activation);
  const Activation* const activations = static_cast<const Activation*>(product.activations) +
                                        range.row * row_stride + range.step * step_depth;
  const std::int32_t* const correction = product.correction + column;
  std::int32_t* const sums = product.sums + range.row * block_columns + column;
  const bool first = range.step == 0 && !product.continues;
  Vector::Ints total[Rows][Width];
  if (first) {
    AXLE_UNROLL
    for (int r = 0; r < Rows; ++r) {
      AXLE_UNROLL
      for (int c = 0; c < Width; ++c)
        total[r][c] = Product::start(activations + r * row_stride, row_stride,
                                     correction + c * Product::columns);
    }
  } else {
    AXLE_UNROLL
    for (int r = 0; r < Rows; ++r) {
      AXLE_UNROLL
      for (int c = 0; c < Width; ++c)
        total[r][c] = Product::resume(sums + r * block_columns + c * Product::columns);
    }
  }
  Weights::template multiply<Product>(weights, column, range.step, range.steps, activations,
                                      row_stride, total, ahead);
  AXLE_UNROLL
  for (int r = 0; r < Rows; ++r) {
    AXLE_UNROLL
    for (int c = 0; c < Width; ++c)
      Product::store(sums + r * block_columns + c * Product::columns, total[r][c], first);
  }
}

/// How many vectors of columns there are registers for, at most a whole block: their weights, the
/// sums of `rows` rows and what a product needs beside. A single row uses each weight only once.
template <class Product>
constexpr int width_for(int rows) {
  const int whole_block = static_cast<int>(block_columns / Product::columns);
  const int vectors_a_column = rows == 1 ? 1 : rows + 1;
  int width = 1;
  while (width * 2 <= whole_block && width * 2 * vectors_a_column < Vector::registers) width *= 2;
  return width;
}

template <class Product, int Rows, class Weights>
AXLE_TARGET void all_columns(const BlockProduct& product, const Weights& weights,
                             const Range& range, Ahead& ahead) {
  constexpr int width = width_for<Product>(Rows);
  for (std::size_t column = 0; column < block_columns; column += width * Product::columns)
    pass<Product, Rows, width>(product, weights, range, column, ahead);
}

template <class Product, class Weights>
AXLE_TARGET void row_group(const BlockProduct& product, const Weights& weights, std::size_t rows,
                           const Range& range, Ahead& ahead) {
  static_assert(Product::most_rows == 4 || Product::most_rows == 6);
  switch (rows) {
    case 1:
      return all_columns<Product, 1>(product, weights, range, ahead);
    case 2:
      return all_columns<Product, 2>(product, weights, range, ahead);
    case 3:
      return all_columns<Product, 3>(product, weights, range, ahead);
    case 4:
      return all_columns<Product, 4>(product, weights, range, ahead);
    default:
      break;
  }
  if constexpr (Product::most_rows == 6) {
    if (rows == 5) return all_columns<Product, 5>(product, weights, range, ahead);
    return all_columns<Product, 6>(product, weights, range, ahead);
  }
}

/// How the depth is cut, and how far ahead in memory weights are asked for.
struct Blocks {
  std::size_t steps;
  std::size_t bytes_ahead;
  bool near;  ///< into L1
};

/// One pass takes the weights as they come. Of a few groups the block stays in L1, with what is
/// asked for meanwhile; of more, the block alone: the start and the end of a pass cost more.
template <class Weights>
constexpr Blocks blocks_for(const BlockProduct& product, std::size_t groups, std::size_t passes) {
  if (passes == 1)
    return {product.depth / step_depth, product.rows <= 2 ? std::size_t{4096} : 8192, true};
  const std::size_t steps = groups <= 3 ? 32 : 128;
  return {steps, steps * Weights::bytes_a_step, groups <= 3};
}

/// `from`: where the weights lie in memory.
template <class Product, class Weights>
AXLE_TARGET void multiply_by(const BlockProduct& product, const Weights& weights,
                             const void* from) {
  const std::size_t steps = product.depth / step_depth;
  const std::size_t groups = (product.rows + Product::most_rows - 1) / Product::most_rows;
  const std::size_t passes_a_group =
      block_columns / Product::columns /
      width_for<Product>(
          static_cast<int>(product.rows < Product::most_rows ? product.rows : Product::most_rows));
  const std::size_t passes = groups * passes_a_group;
  const Blocks blocks = blocks_for<Weights>(product, groups, passes);
  const std::size_t lines =
      product.in_cache ? product.next_bytes / 64 / (passes * (steps / steps_unrolled)) + 1
                       : (steps_unrolled * Weights::bytes_a_step / 64 + passes - 1) / passes;
  Ahead meanwhile = ahead_of(product.next, product.next_bytes, 0, lines, false, false);
  for (std::size_t step = 0; step < steps; step += blocks.steps) {
    const std::size_t count = steps - step < blocks.steps ? steps - step : blocks.steps;
    Ahead behind = ahead_of(static_cast<const char*>(from) + step * Weights::bytes_a_step,
                            count * Weights::bytes_a_step, blocks.bytes_ahead, lines, blocks.near,
                            blocks.near && product.in_turn);
    Ahead& ahead = product.in_cache ? meanwhile : behind;
    for (std::size_t group = 0; group < groups; ++group) {
      const std::size_t row = product.rows * group / groups;
      row_group<Product>(product, weights, product.rows * (group + 1) / groups - row,
                         {row, step, count}, ahead);
    }
  }
}

template <class Product>
AXLE_TARGET void multiply(const BlockProduct& product) {
  multiply_by<Product>(product, Int8Weights{product.weights}, product.weights);
}

}  // namespace
}  // namespace axle::runtime
