#pragma once
// 4-bit weights times quantised rows, written once over a product, as multiply.h (which comes
// first) is. The unit of work is half a slab: 32 k of one group, eight steps of four k. A group's
// sum stays in integers; then it is scaled and added to the floats of its row.

#include <cstddef>
#include <cstdint>

#include "runtime/kernel.h"

namespace axle::runtime {
namespace {

inline constexpr int half_slab_steps = half_slab_depth / step_depth;

/// The low or the high halves of the bytes of a vector.
template <bool high>
AXLE_VECTOR_OP Vector::Ints halves_of_bytes(Vector::Ints v) {
  if constexpr (high) v = Vector::shift_right<4>(v);
  return Vector::bit_and(v, Vector::broadcast_int(0x0f0f0f0f));
}

#ifdef AXLE_VECTOR_HAS_NEIGHBOUR_SUMS
/// Weights widened to 16 bits: any x86-64 CPU. Two lanes hold one column's sum.
struct W4Pairs {
  using Activation = std::int16_t;
  static constexpr std::size_t weight_bytes = Vector::bytes / 2;
  static constexpr int lanes_a_column = 2;

  template <bool high>
  AXLE_VECTOR_OP Vector::Ints weights(const std::uint8_t* from) {
    Vector::Ints v = Vector::widen(reinterpret_cast<const std::int8_t*>(from));
    if constexpr (high) v = Vector::shift_right<4>(v);
    return Vector::bit_and(v, Vector::broadcast_int(0x000f000f));
  }
  AXLE_VECTOR_OP Vector::Ints activations(const std::int16_t* from) {
    return Vector::broadcast_four_int16(from);
  }
  AXLE_VECTOR_OP Vector::Ints start(Vector::Ints total) { return total; }
  AXLE_VECTOR_OP Vector::Ints add(Vector::Ints sums, Vector::Ints activation, Vector::Ints weight) {
    return Vector::add_pairs_multiplied(sums, activation, weight);
  }
  AXLE_VECTOR_OP Vector::Ints end(Vector::Ints /*total*/, Vector::Ints sums) { return sums; }
  AXLE_VECTOR_OP Vector::Ints column_sums(const Vector::Ints* total) {
    return Vector::sum_neighbours(total[0], total[1]);
  }
};
#endif

#ifdef AXLE_VECTOR_HAS_BYTE_PRODUCTS
/// PMADDUBSW, exact here: a product of the two is at most 15 * 128 in size, sixteen of them
/// (half a slab) fit int16.
struct W4BytePairs {
  using Activation = std::int8_t;
  static constexpr std::size_t weight_bytes = Vector::bytes;
  static constexpr int lanes_a_column = 1;

  template <bool high>
  AXLE_VECTOR_OP Vector::Ints weights(const std::uint8_t* from) {
    return halves_of_bytes<high>(Vector::load_ints(from));
  }
  AXLE_VECTOR_OP Vector::Ints activations(const std::int8_t* from) {
    return Vector::broadcast_four_bytes(reinterpret_cast<const std::uint8_t*>(from));
  }
  AXLE_VECTOR_OP Vector::Ints start(Vector::Ints /*total*/) { return Vector::zero(); }
  AXLE_VECTOR_OP Vector::Ints add(Vector::Ints sums, Vector::Ints activation, Vector::Ints weight) {
    return Vector::add_int16(sums, Vector::multiply_bytes(weight, activation));
  }
  AXLE_VECTOR_OP Vector::Ints end(Vector::Ints total, Vector::Ints sums) {
    return Vector::add_pairs_multiplied(total, sums, Vector::broadcast_int(0x00010001));
  }
  AXLE_VECTOR_OP Vector::Ints column_sums(const Vector::Ints* total) { return *total; }
};
#endif

#ifdef AXLE_VECTOR_HAS_DOT
/// VPDPBUSD with the weights as the unsigned operand.
struct W4Dot {
  using Activation = std::int8_t;
  static constexpr std::size_t weight_bytes = Vector::bytes;
  static constexpr int lanes_a_column = 1;

  template <bool high>
  AXLE_VECTOR_OP Vector::Ints weights(const std::uint8_t* from) {
    return halves_of_bytes<high>(Vector::load_ints(from));
  }
  AXLE_VECTOR_OP Vector::Ints activations(const std::int8_t* from) {
    return Vector::broadcast_four_bytes(reinterpret_cast<const std::uint8_t*>(from));
  }
  AXLE_VECTOR_OP Vector::Ints start(Vector::Ints total) { return total; }
  AXLE_VECTOR_OP Vector::Ints add(Vector::Ints sums, Vector::Ints activation, Vector::Ints weight) {
    return Vector::add_dot(sums, weight, activation);
  }
  AXLE_VECTOR_OP Vector::Ints end(Vector::Ints /*total*/, Vector::Ints sums) { return sums; }
  AXLE_VECTOR_OP Vector::Ints column_sums(const Vector::Ints* total) { return *total; }
};
#endif

/// Rows of all planes that one pass takes, and how many vectors of columns.
inline constexpr int w4_most_rows = Vector::registers == 32 ? 6 : 4;

template <class Product>
constexpr int w4_width(int rows) {
  constexpr int whole_block = static_cast<int>(4 * block_columns / Product::weight_bytes);
  constexpr int most = whole_block < 4 ? whole_block : 4;
  const int accumulators = Vector::registers == 32 ? 24 : 8;
  int width = Product::lanes_a_column;
  while (width * 2 <= most && width * 2 * rows <= accumulators) width *= 2;
  return width;
}

/// Half a slab: `weights` at the slab and column, `activations` at the first row and k.
template <class Product, bool high, int planes, int rows, int width>
AXLE_VECTOR_OP void half_slab(const std::uint8_t* weights,
                              const typename Product::Activation* activations,
                              std::size_t row_stride, std::size_t plane_stride,
                              Vector::Ints (&total)[planes][rows][width]) {
  Vector::Ints sums[planes][rows][width];
  AXLE_UNROLL
  for (int p = 0; p < planes; ++p) {
    AXLE_UNROLL
    for (int r = 0; r < rows; ++r) {
      AXLE_UNROLL
      for (int c = 0; c < width; ++c) sums[p][r][c] = Product::start(total[p][r][c]);
    }
  }
  AXLE_ROLLED
  for (int step = 0; step < half_slab_steps; ++step) {
    Vector::Ints weight[width];
    AXLE_UNROLL
    for (int c = 0; c < width; ++c)
      weight[c] =
          Product::template weights<high>(weights + step * step_bytes + c * Product::weight_bytes);
    AXLE_UNROLL
    for (int p = 0; p < planes; ++p) {
      AXLE_UNROLL
      for (int r = 0; r < rows; ++r) {
        const Vector::Ints a = Product::activations(activations + p * plane_stride +
                                                    r * row_stride + step * step_depth);
        AXLE_UNROLL
        for (int c = 0; c < width; ++c) sums[p][r][c] = Product::add(sums[p][r][c], a, weight[c]);
      }
    }
  }
  AXLE_UNROLL
  for (int p = 0; p < planes; ++p) {
    AXLE_UNROLL
    for (int r = 0; r < rows; ++r) {
      AXLE_UNROLL
      for (int c = 0; c < width; ++c) total[p][r][c] = Product::end(total[p][r][c], sums[p][r][c]);
    }
  }
}

/// Where a group begins: with the offsets of its rows where a lane is a column, else with zero.
template <class Product, int planes, int rows, int width>
AXLE_VECTOR_OP void begin_group(const std::int32_t* offsets, std::size_t offset_stride,
                                Vector::Ints (&total)[planes][rows][width]) {
  AXLE_UNROLL
  for (int p = 0; p < planes; ++p) {
    AXLE_UNROLL
    for (int r = 0; r < rows; ++r) {
      const bool has_offset = Product::lanes_a_column == 1 && p == planes - 1;
      const Vector::Ints start =
          has_offset ? Vector::broadcast_int(offsets[r * offset_stride]) : Vector::zero();
      AXLE_UNROLL
      for (int c = 0; c < width; ++c) total[p][r][c] = start;
    }
  }
}

/// One group's integers into the floats of its rows, which lie 64 apart.
template <class Product, int planes, int rows, int width>
AXLE_VECTOR_OP void fold(const Vector::Ints (&total)[planes][rows][width],
                         const std::int32_t* offsets, std::size_t offset_stride,
                         const std::uint16_t* scales, float* sums) {
  constexpr int lanes_a_column = Product::lanes_a_column;
  AXLE_UNROLL
  for (int c = 0; c < width / lanes_a_column; ++c) {
    const Vector::Floats scale = Vector::load_bfloat16(scales + c * vector_lanes);
    AXLE_UNROLL
    for (int r = 0; r < rows; ++r) {
      Vector::Ints plane[planes];
      AXLE_UNROLL
      for (int p = 0; p < planes; ++p)
        plane[p] = Product::column_sums(total[p][r] + c * lanes_a_column);
      Vector::Ints whole = plane[planes - 1];
      if constexpr (planes == 2) whole = Vector::add(Vector::shift_left<8>(plane[0]), whole);
      if constexpr (lanes_a_column != 1)
        whole = Vector::add(whole, Vector::broadcast_int(offsets[r * offset_stride]));
      float* const to = sums + r * block_columns + c * vector_lanes;
      Vector::store_floats(to,
                           Vector::add_floats(Vector::load_floats(to),
                                              Vector::multiply(Vector::to_floats(whole), scale)));
    }
  }
}

/// Groups of one column block, its rows from `row` on.
struct W4Range {
  std::size_t row;
  std::size_t group;
  std::size_t groups;
};

template <class Product, int planes, int rows>
AXLE_TARGET void w4_pass(const W4Product& product, const W4Range& range, Ahead& ahead) {
  using Activation = typename Product::Activation;
  constexpr int width = w4_width<Product>(planes * rows);
  constexpr std::size_t columns = width * Product::weight_bytes / step_depth;
  const std::size_t row_stride = product.row_bytes / sizeof(Activation);
  const std::size_t plane_stride = row_stride * product.rows;
  const std::size_t all_groups = product.depth / product.group;
  for (std::size_t column = 0; column < block_columns; column += columns) {
    for (std::size_t g = range.group; g < range.group + range.groups; ++g) {
      const std::int32_t* const offsets = product.offsets + range.row * all_groups + g;
      Vector::Ints total[planes][rows][width];
      begin_group<Product>(offsets, all_groups, total);
      for (std::size_t k = g * product.group; k < (g + 1) * product.group; k += half_slab_depth) {
        const std::uint8_t* const weights =
            product.weights + k / depth_multiple * nibble_slab_bytes + column * step_depth;
        const Activation* const activations =
            static_cast<const Activation*>(product.activations) + range.row * row_stride + k;
        advance(ahead);
        if (k % depth_multiple == 0) {
          half_slab<Product, false>(weights, activations, row_stride, plane_stride, total);
        } else {
          half_slab<Product, true>(weights, activations, row_stride, plane_stride, total);
        }
      }
      fold<Product>(total, offsets, all_groups, product.scales + g * block_columns + column,
                    product.sums + range.row * block_columns + column);
    }
  }
}

template <class Product, int planes>
AXLE_TARGET void w4_row_group(const W4Product& product, std::size_t rows, const W4Range& range,
                              Ahead& ahead) {
  constexpr int most = w4_most_rows / planes;
  static_assert(most >= 2 && most <= 6);
  if (rows == 1) return w4_pass<Product, planes, 1>(product, range, ahead);
  if (rows == 2) return w4_pass<Product, planes, 2>(product, range, ahead);
  if constexpr (most >= 3) {
    if (rows == 3) return w4_pass<Product, planes, 3>(product, range, ahead);
  }
  if constexpr (most >= 4) {
    if (rows == 4) return w4_pass<Product, planes, 4>(product, range, ahead);
  }
  if constexpr (most >= 6) {
    if (rows == 5) return w4_pass<Product, planes, 5>(product, range, ahead);
    if (rows == 6) return w4_pass<Product, planes, 6>(product, range, ahead);
  }
}

template <class Product, int planes>
AXLE_TARGET void w4_all_rows(const W4Product& product) {
  constexpr std::size_t most = w4_most_rows / planes;
  const std::size_t row_groups = (product.rows + most - 1) / most;
  const std::size_t a_group = product.rows < most ? product.rows : most;
  const std::size_t passes =
      row_groups * (4 * block_columns / Product::weight_bytes) /
      static_cast<std::size_t>(w4_width<Product>(static_cast<int>(a_group) * planes));
  const bool streams = passes == 1;
  const bool near = row_groups <= 4;
  const std::size_t block = streams ? product.depth : near ? 512 : 1024;
  const std::size_t distance = streams ? 4096 : block * block_columns / 2;
  for (std::size_t k = 0; k < product.depth; k += block) {
    const std::size_t depth = product.depth - k < block ? product.depth - k : block;
    // Half a slab is 16 cache lines.
    Ahead ahead = ahead_of(product.weights + k * block_columns / 2, depth * block_columns / 2,
                           distance, (16 + passes - 1) / passes, near, streams && product.in_turn);
    for (std::size_t group = 0; group < row_groups; ++group) {
      const std::size_t row = product.rows * group / row_groups;
      w4_row_group<Product, planes>(product, product.rows * (group + 1) / row_groups - row,
                                    {row, k / product.group, depth / product.group}, ahead);
    }
  }
}

template <class Product>
AXLE_TARGET void multiply_w4(const W4Product& product) {
  for (std::size_t i = 0; i < product.rows * block_columns; i += vector_lanes)
    Vector::store_floats(product.sums + i, Vector::broadcast_float(0));
  if (product.planes == 2) {
    w4_all_rows<Product, 2>(product);
  } else {
    w4_all_rows<Product, 1>(product);
  }
}

}  // namespace
}  // namespace axle::runtime
