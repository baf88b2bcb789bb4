#pragma once
// The integer product of one column block with all rows, written once over a `Product`: how many
// weights a vector takes and what one multiply-accumulate is. A vector header comes first.
//
// Rows go in groups that fit the registers. With one group the weights stream through once; with
// more, the depth is cut into blocks that stay in a cache while all groups pass over them, and the
// prefetches of what comes next are spread evenly over the passes.

#include <cstddef>
#include <cstdint>

#include "runtime/kernel.h"
#include "runtime/kernels/lanes.h"

namespace axle::runtime {
namespace {

/// A step is four k of the depth: 256 bytes of a column block, four cache lines.
inline constexpr std::size_t step_depth = 4;
inline constexpr std::size_t step_bytes = step_depth * block_columns;
inline constexpr std::size_t steps_unrolled = 4;

/// Widened weights times int16 activations, neighbouring products added: any x86-64 CPU.
struct PairProduct {
  using Activation = std::int16_t;
  static constexpr int most_rows = 4;
  static constexpr std::size_t weight_bytes = Vector::bytes / 2;
  static constexpr std::size_t columns = weight_bytes / step_depth;

  AXLE_VECTOR_OP Vector::Ints weights(const std::int8_t* from) { return Vector::widen(from); }
  AXLE_VECTOR_OP Vector::Ints activations(const std::int16_t* from) {
    return Vector::broadcast_four_int16(from);
  }
  AXLE_VECTOR_OP Vector::Ints add(Vector::Ints sums, Vector::Ints activation, Vector::Ints weight) {
    return Vector::add_pairs_multiplied(sums, activation, weight);
  }
  AXLE_VECTOR_OP void store(std::int32_t* to, Vector::Ints v, const std::int32_t* /*correction*/,
                            bool first) {
    Vector::store_neighbour_sums(to, v, first);
  }
};

#ifdef AXLE_VECTOR_HAS_DOT
/// VPDPBUSD: uint8 activations (shifted by 128) times int8 weights; the shift is taken out again
/// by the columns' correction, modulo 2^32.
struct OffsetProduct {
  using Activation = std::uint8_t;
  static constexpr int most_rows = Vector::registers == 32 ? 6 : 4;
  static constexpr std::size_t weight_bytes = Vector::bytes;
  static constexpr std::size_t columns = weight_bytes / step_depth;

  AXLE_VECTOR_OP Vector::Ints weights(const std::int8_t* from) { return Vector::load_ints(from); }
  AXLE_VECTOR_OP Vector::Ints activations(const std::uint8_t* from) {
    return Vector::broadcast_four_bytes(from);
  }
  AXLE_VECTOR_OP Vector::Ints add(Vector::Ints sums, Vector::Ints activation, Vector::Ints weight) {
    return Vector::add_dot(sums, activation, weight);
  }
  AXLE_VECTOR_OP void store(std::int32_t* to, Vector::Ints v, const std::int32_t* correction,
                            bool first) {
    Vector::store_ints(to, first ? Vector::subtract(v, Vector::load_ints(correction))
                                 : Vector::add(v, Vector::load_ints(to)));
  }
};
#endif

/// Walks ahead of the weights, `lines` cache lines for every four steps, until its share is done.
struct Prefetch {
  const char* next;
  const char* end;
  std::size_t lines;
  bool near;  ///< into L1, else into L2

  AXLE_VECTOR_OP void advance(Prefetch& p) {
    if (p.next >= p.end) return;
    if (p.near) {
      for (std::size_t i = 0; i < p.lines; ++i) __builtin_prefetch(p.next + 64 * i, 0, 3);
    } else {
      for (std::size_t i = 0; i < p.lines; ++i) __builtin_prefetch(p.next + 64 * i, 0, 2);
    }
    p.next += 64 * p.lines;
  }
};

/// One pass: `Rows` rows times `Width` vectors of columns over `steps` steps of the depth.
template <class Product, int Rows, int Width>
AXLE_TARGET void pass(const std::int8_t* weights, const typename Product::Activation* activations,
                      std::size_t row_stride, std::size_t steps, const std::int32_t* correction,
                      std::int32_t* sums, bool first, Prefetch& prefetch) {
  Vector::Ints total[Rows][Width];
  AXLE_UNROLL
  for (int r = 0; r < Rows; ++r) {
    AXLE_UNROLL
    for (int c = 0; c < Width; ++c) total[r][c] = Vector::zero();
  }
  for (std::size_t step = 0; step < steps; step += steps_unrolled) {
    Prefetch::advance(prefetch);
    AXLE_UNROLL
    for (std::size_t u = 0; u < steps_unrolled; ++u) {
      Vector::Ints weight[Width];
      AXLE_UNROLL
      for (int c = 0; c < Width; ++c)
        weight[c] = Product::weights(weights + u * step_bytes + c * Product::weight_bytes);
      AXLE_UNROLL
      for (int r = 0; r < Rows; ++r) {
        const Vector::Ints a = Product::activations(activations + r * row_stride + u * step_depth);
        AXLE_UNROLL
        for (int c = 0; c < Width; ++c) total[r][c] = Product::add(total[r][c], a, weight[c]);
      }
    }
    weights += steps_unrolled * step_bytes;
    activations += steps_unrolled * step_depth;
  }
  AXLE_UNROLL
  for (int r = 0; r < Rows; ++r) {
    AXLE_UNROLL
    for (int c = 0; c < Width; ++c)
      Product::store(sums + r * block_columns + c * Product::columns, total[r][c],
                     correction + c * Product::columns, first);
  }
}

/// How many vectors of columns `rows` rows leave registers for; at most a whole block.
template <class Product>
constexpr int width_for(int rows) {
  const int whole_block = static_cast<int>(block_columns / Product::columns);
  const int accumulators = Vector::registers == 32 ? 24 : 8;
  int width = 1;
  while (width * 2 <= whole_block && width * 2 * rows <= accumulators) width *= 2;
  return width;
}

/// A depth range of one column block, its rows from `row` on.
struct Range {
  std::size_t row;
  std::size_t step;
  std::size_t steps;
};

template <class Product, int Rows>
AXLE_TARGET void all_columns(const BlockProduct& product, const Range& range, Prefetch& prefetch) {
  constexpr int width = width_for<Product>(Rows);
  constexpr std::size_t pass_columns = width * Product::columns;
  using Activation = typename Product::Activation;
  const std::size_t row_stride = product.row_bytes / sizeof(Activation);
  const Activation* const activations = static_cast<const Activation*>(product.activations) +
                                        range.row * row_stride + range.step * step_depth;
  for (std::size_t column = 0; column < block_columns; column += pass_columns)
    pass<Product, Rows, width>(product.weights + range.step * step_bytes + column * step_depth,
                               activations, row_stride, range.steps, product.correction + column,
                               product.sums + range.row * block_columns + column,
                               range.step == 0 && !product.continues, prefetch);
}

template <class Product>
AXLE_TARGET void row_group(const BlockProduct& product, std::size_t rows, const Range& range,
                           Prefetch& prefetch) {
  static_assert(Product::most_rows == 4 || Product::most_rows == 6);
  switch (rows) {
    case 1:
      return all_columns<Product, 1>(product, range, prefetch);
    case 2:
      return all_columns<Product, 2>(product, range, prefetch);
    case 3:
      return all_columns<Product, 3>(product, range, prefetch);
    case 4:
      return all_columns<Product, 4>(product, range, prefetch);
    default:
      break;
  }
  if constexpr (Product::most_rows == 6) {
    if (rows == 5) return all_columns<Product, 5>(product, range, prefetch);
    return all_columns<Product, 6>(product, range, prefetch);
  }
}

template <class Product>
AXLE_TARGET void multiply(const BlockProduct& product) {
  const std::size_t steps = product.depth / step_depth;
  const std::size_t groups = (product.rows + Product::most_rows - 1) / Product::most_rows;
  const std::size_t passes_a_group =
      block_columns / Product::columns /
      width_for<Product>(
          static_cast<int>(product.rows < Product::most_rows ? product.rows : Product::most_rows));
  const std::size_t passes = groups * passes_a_group;
  const bool streams = passes == 1;
  const bool near = groups <= 4;
  const std::size_t block_steps = streams ? steps : near ? 64 : 128;
  const std::size_t ahead = streams ? 4096 : near ? 16384 : 128 * step_bytes;
  for (std::size_t step = 0; step < steps; step += block_steps) {
    const std::size_t count = steps - step < block_steps ? steps - step : block_steps;
    const char* const from = reinterpret_cast<const char*>(product.weights) + step * step_bytes;
    Prefetch prefetch{from + ahead, from + ahead + count * step_bytes, (16 + passes - 1) / passes,
                      near};
    for (std::size_t group = 0; group < groups; ++group) {
      const std::size_t row = product.rows * group / groups;
      row_group<Product>(product, product.rows * (group + 1) / groups - row, {row, step, count},
                         prefetch);
    }
  }
}

}  // namespace
}  // namespace axle::runtime
