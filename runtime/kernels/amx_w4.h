#pragma once
// 4-bit weights on AMX tiles. A slab is unpacked to int8 that are sixteen times the weights (a
// nibble with its upper bit inverted is the weight in two's complement, and needs no sign extension
// when it stays in the upper half of a byte); a group's sum is then sixteen times the right one,
// still exact in int32, and takes a sixteenth of the scale. In groups of 32 each half of a slab is
// multiplied with zeros in the place of the other.

#include <cstddef>
#include <cstdint>

#include "runtime/kernel.h"

namespace axle::runtime {
namespace {

inline constexpr std::size_t half_slab_bytes = slab_bytes / 2;
/// Unpacked: the first 32 k, in groups of 32 zeros, the other 32 k.
inline constexpr std::size_t most_unpacked_bytes = 3 * half_slab_bytes;

/// How unpacked slabs lie.
struct W4Layout {
  std::size_t high;      ///< where the other 32 k begin
  std::size_t products;  ///< a slab: 2 in groups of 32
};

constexpr W4Layout w4_layout(std::size_t group) {
  return group == 32 ? W4Layout{2 * half_slab_bytes, 2} : W4Layout{half_slab_bytes, 1};
}

inline constexpr std::size_t nibble_rows = nibble_slab_bytes / slab_stride;

/// Of the columns at byte `c` of each row of a slab, `rows` rows from `first` on, to rows that lie
/// `to_stride` apart.
template <std::size_t rows, std::size_t to_stride>
AXLE_VECTOR_OP void unpack_columns(const std::uint8_t* from, std::size_t c, std::size_t first,
                                   std::int8_t* low, std::int8_t* high) {
  const Vector::Ints mask = Vector::broadcast_int(static_cast<std::int32_t>(0xf0f0f0f0U));
  const Vector::Ints flip = Vector::broadcast_int(static_cast<std::int32_t>(0x80808080U));
  AXLE_UNROLL
  for (std::size_t i = 0; i < rows; ++i) {
    const Vector::Ints nibbles = Vector::load_ints(from + (first + i) * slab_stride + c);
    const std::size_t to = (first + i) * to_stride;
    Vector::store_ints(low + to, Vector::and_xor(Vector::shift_left<4>(nibbles), mask, flip));
    Vector::store_ints(high + to, Vector::and_xor(nibbles, mask, flip));
  }
}

/// A group's sums, 16 times too large, into the floats of `rows` rows.
struct W4Fold {
  const std::int32_t* high = nullptr;  ///< of the first plane, or null: one plane
  const std::int32_t* low = nullptr;   ///< null: nothing to fold yet
  std::size_t row_ints;                ///< from row to row
  const std::uint16_t* scales = nullptr;
  float* sums;
  std::size_t rows;
};

template <int vectors, bool two_planes>
AXLE_VECTOR_OP void fold_rows_of(const W4Fold& fold, std::size_t first, std::size_t end) {
  Vector::Floats scales[vectors];
  AXLE_UNROLL
  for (int c = 0; c < vectors; ++c)
    scales[c] = Vector::multiply(Vector::load_bfloat16(fold.scales + c * vector_lanes),
                                 Vector::broadcast_float(0.0625F));
  const std::size_t row_ints = fold.row_ints;
  const std::int32_t* low = fold.low + first * row_ints;
  const std::int32_t* high = two_planes ? fold.high + first * row_ints : nullptr;
  float* to = fold.sums + first * block_columns;
  for (std::size_t r = first; r < end; ++r) {
    AXLE_UNROLL
    for (int c = 0; c < vectors; ++c) {
      Vector::Ints whole = Vector::load_ints(low + c * vector_lanes);
      if constexpr (two_planes)
        whole =
            Vector::add(whole, Vector::shift_left<8>(Vector::load_ints(high + c * vector_lanes)));
      Vector::store_floats(
          to + c * vector_lanes,
          Vector::add_floats(Vector::load_floats(to + c * vector_lanes),
                             Vector::multiply(Vector::to_floats(whole), scales[c])));
    }
    low += row_ints;
    if constexpr (two_planes) high += row_ints;
    to += block_columns;
  }
}

/// Rows [first, first + count), as far as there are any.
template <int vectors>
AXLE_VECTOR_OP void fold_rows(const W4Fold& fold, std::size_t first, std::size_t count) {
  if (fold.low == nullptr || first >= fold.rows) return;
  const std::size_t end = first + count < fold.rows ? first + count : fold.rows;
  if (fold.high == nullptr) {
    fold_rows_of<vectors, false>(fold, first, end);
  } else {
    fold_rows_of<vectors, true>(fold, first, end);
  }
}

AXLE_TILE_TARGET void zero_sums() {
  tile_zero(0);
  tile_zero(1);
  tile_zero(2);
  tile_zero(3);
}

/// Tiles 0 to 3 side by side: 16 rows of 64 columns.
AXLE_TILE_TARGET void load_sums(const std::int32_t* from) {
  tile_load(0, from, sum_stride);
  tile_load(1, from + 16, sum_stride);
  tile_load(2, from + 32, sum_stride);
  tile_load(3, from + 48, sum_stride);
}

AXLE_TILE_TARGET void store_sums(std::int32_t* to) {
  tile_store(0, to, sum_stride);
  tile_store(1, to + 16, sum_stride);
  tile_store(2, to + 32, sum_stride);
  tile_store(3, to + 48, sum_stride);
}

/// `slabs` slabs of nibbles that are gone through once.
Ahead streamed_nibbles(const std::uint8_t* from, std::size_t slabs, std::size_t times) {
  return ahead_in_turn(from, slabs * nibble_slab_bytes, times, true);
}

constexpr std::size_t slabs_of_group(std::size_t group) { return group == 128 ? 2 : 1; }

/// Up to 16 rows of all planes: 16 rows times 64 columns. After each product a quarter of the next
/// slab is unpacked, and some rows of the group before this one are folded: in larger pieces they
/// would keep the next product waiting.
template <std::size_t group_k>
AXLE_TILE_VECTOR_TARGET void w4_one_tile(const W4Product& product) {
  constexpr W4Layout layout = w4_layout(group_k);
  constexpr std::size_t rows = nibble_rows / layout.products;
  constexpr std::size_t slabs_a_group = slabs_of_group(group_k);
  constexpr std::size_t fold_count = tile_rows / (4 * slabs_a_group);
  alignas(64) std::int8_t unpacked[2][most_unpacked_bytes];
  alignas(64) std::int32_t sums[2][tile_rows * block_columns];
  if constexpr (layout.products == 2) __builtin_memset(unpacked, 0, sizeof unpacked);
  const std::size_t slabs = product.depth / depth_multiple;
  const bool two = product.planes == 2;
  W4Fold fold{.row_ints = block_columns, .sums = product.sums, .rows = product.rows};
  Ahead ahead = streamed_nibbles(product.weights, slabs, 4 * slabs * layout.products);
  for (std::size_t c = 0; c < slab_stride; c += tile_row_bytes)
    unpack_columns<nibble_rows, slab_stride>(product.weights, c, 0, unpacked[0] + c,
                                             unpacked[0] + layout.high + c);
  std::size_t group = 0;
  for (std::size_t slab = 0; slab < slabs; ++slab) {
    // After the last slab the same one is unpacked once more, to where nobody reads.
    const std::uint8_t* const next =
        product.weights + (slab + 1 < slabs ? slab + 1 : slab) * nibble_slab_bytes;
    std::int8_t* const to = unpacked[(slab + 1) % 2];
    const std::int8_t* const activations =
        static_cast<const std::int8_t*>(product.activations) + slab * depth_multiple;
    for (std::size_t p = 0; p < layout.products; ++p) {
      const std::int8_t* const b = unpacked[slab % 2] + p * half_slab_bytes;
      const std::size_t first = 4 * fold_count * (slab % slabs_a_group);
      if (slab % slabs_a_group == 0) zero_sums();
      tile_load(4, activations, product.row_bytes);
      tile_load(5, b, slab_stride);
      tile_dot_int8(0, 4, 5);
      advance(ahead);
      unpack_columns<rows, slab_stride>(next, 0, p * rows, to, to + layout.high);
      fold_rows<4>(fold, first, fold_count);
      tile_load(6, b + 64, slab_stride);
      tile_dot_int8(1, 4, 6);
      advance(ahead);
      unpack_columns<rows, slab_stride>(next, 64, p * rows, to + 64, to + layout.high + 64);
      fold_rows<4>(fold, first + fold_count, fold_count);
      tile_load(7, b + 128, slab_stride);
      tile_dot_int8(2, 4, 7);
      advance(ahead);
      unpack_columns<rows, slab_stride>(next, 128, p * rows, to + 128, to + layout.high + 128);
      fold_rows<4>(fold, first + 2 * fold_count, fold_count);
      tile_load(5, b + 192, slab_stride);
      tile_dot_int8(3, 4, 5);
      advance(ahead);
      unpack_columns<rows, slab_stride>(next, 192, p * rows, to + 192, to + layout.high + 192);
      fold_rows<4>(fold, first + 3 * fold_count, fold_count);
      if ((slab + 1) % slabs_a_group != 0) continue;
      std::int32_t* const place = sums[group % 2];
      store_sums(place);
      fold.high = two ? place : nullptr;
      fold.low = two ? place + product.rows * block_columns : place;
      fold.scales = product.scales + group * block_columns;
      ++group;
    }
  }
  fold_rows<4>(fold, 0, tile_rows);
}

/// Slabs [slab, slab + count) times some rows from `row` on, to some columns from `column` on.
struct NibblePass {
  std::size_t slab;
  std::size_t count;
  std::size_t row;
  std::size_t column;
};

/// Halves of slabs are unpacked close together: a tile cannot be loaded from what has not left the
/// store buffer, nor, for a while, from the same place of another page.
inline constexpr std::size_t half_row_bytes = slab_stride / 2;
inline constexpr std::size_t halves_in_turn = 4;
inline constexpr std::size_t halves_ahead = 2;

/// Two tiles of rows (of one plane 32 rows, of two planes 16) times 32 columns. Each pass of rows
/// unpacks anew, while it multiplies, into what stays in L1.
template <std::size_t group_k>
AXLE_TILE_VECTOR_TARGET void w4_two_tiles(const W4Product& product, const NibblePass& pass,
                                          Ahead& ahead) {
  constexpr W4Layout layout = w4_layout(group_k);
  constexpr std::size_t rows = nibble_rows / layout.products;
  constexpr std::size_t slabs_a_group = slabs_of_group(group_k);
  constexpr std::size_t fold_count = 2 * tile_rows / (4 * slabs_a_group);
  constexpr std::size_t half_columns = block_columns / 2;
  constexpr std::size_t half_stride = half_columns * sizeof(std::int32_t);
  alignas(page_bytes) std::int8_t unpacked[halves_in_turn][most_unpacked_bytes / 2];
  constexpr std::size_t high = layout.high / 2;
  alignas(64) std::int32_t sums[2][2 * tile_rows * half_columns];
  if constexpr (layout.products == 2) __builtin_memset(unpacked, 0, sizeof unpacked);
  const bool two = product.planes == 2;
  const std::size_t lower_row = two ? product.rows + pass.row : pass.row + tile_rows;
  const std::size_t most = two ? tile_rows : 2 * tile_rows;
  const std::size_t left = product.rows - pass.row;
  const std::size_t c = step_depth * pass.column;
  W4Fold fold{.row_ints = half_columns,
              .sums = product.sums + pass.row * block_columns + pass.column,
              .rows = left < most ? left : most};
  const std::int8_t* const all =
      static_cast<const std::int8_t*>(product.activations) + pass.slab * depth_multiple;
  const std::uint8_t* const nibbles = product.weights + pass.slab * nibble_slab_bytes;
  for (std::size_t s = 0; s < halves_ahead; ++s) {
    const std::uint8_t* const from = nibbles + (s < pass.count ? s : 0) * nibble_slab_bytes;
    std::int8_t* const to = unpacked[s];
    unpack_columns<nibble_rows, half_row_bytes>(from, c, 0, to, to + high);
    unpack_columns<nibble_rows, half_row_bytes>(from, c + 64, 0, to + 64, to + high + 64);
  }
  std::size_t group = pass.slab * depth_multiple / group_k;
  for (std::size_t s = 0; s < pass.count; ++s) {
    // After the last slabs the first one is unpacked once more, to where nobody reads.
    const std::size_t later = s + halves_ahead < pass.count ? s + halves_ahead : 0;
    const std::uint8_t* const next = nibbles + later * nibble_slab_bytes;
    std::int8_t* const to = unpacked[(s + halves_ahead) % halves_in_turn];
    const std::int8_t* const activations = all + s * depth_multiple;
    for (std::size_t p = 0; p < layout.products; ++p) {
      const std::int8_t* const b = unpacked[s % halves_in_turn] + p * half_slab_bytes / 2;
      const std::size_t first = 4 * fold_count * (s % slabs_a_group);
      if (s % slabs_a_group == 0) zero_sums();
      tile_load(4, activations + pass.row * product.row_bytes, product.row_bytes);
      tile_load(6, b, half_row_bytes);
      tile_dot_int8(0, 4, 6);
      unpack_columns<rows, half_row_bytes>(next, c, p * rows, to, to + high);
      fold_rows<2>(fold, first, fold_count);
      tile_load(7, b + 64, half_row_bytes);
      tile_dot_int8(1, 4, 7);
      advance(ahead);
      fold_rows<2>(fold, first + fold_count, fold_count);
      tile_load(5, activations + lower_row * product.row_bytes, product.row_bytes);
      tile_dot_int8(2, 5, 6);
      unpack_columns<rows, half_row_bytes>(next, c + 64, p * rows, to + 64, to + high + 64);
      fold_rows<2>(fold, first + 2 * fold_count, fold_count);
      tile_dot_int8(3, 5, 7);
      advance(ahead);
      fold_rows<2>(fold, first + 3 * fold_count, fold_count);
      if ((s + 1) % slabs_a_group != 0) continue;
      std::int32_t* const place = sums[group % 2];
      std::int32_t* const lower = place + tile_rows * half_columns;
      tile_store(0, place, half_stride);
      tile_store(1, place + 16, half_stride);
      tile_store(2, lower, half_stride);
      tile_store(3, lower + 16, half_stride);
      fold.high = two ? place : nullptr;
      fold.low = two ? lower : place;
      fold.scales = product.scales + group * block_columns + pass.column;
      ++group;
    }
  }
  fold_rows<2>(fold, 0, 2 * tile_rows);
}

/// Of 4-bit weights as many bytes as slabs_together of int8.
inline constexpr std::size_t nibble_slabs_together = 2 * slabs_together;

template <std::size_t group_k>
AXLE_TILE_VECTOR_TARGET void w4_many_tiles(const W4Product& product) {
  constexpr W4Layout layout = w4_layout(group_k);
  const std::size_t slabs = product.depth / depth_multiple;
  const std::size_t rows_a_pass = product.planes == 2 ? tile_rows : 2 * tile_rows;
  const std::size_t passes = (product.rows + rows_a_pass - 1) / rows_a_pass;
  for (std::size_t slab = 0; slab < slabs; slab += nibble_slabs_together) {
    const std::size_t count =
        slabs - slab < nibble_slabs_together ? slabs - slab : nibble_slabs_together;
    Ahead ahead = ahead_in_turn(
        product.weights + (slab + nibble_slabs_together) * nibble_slab_bytes - turn_bytes,
        count * nibble_slab_bytes, 4 * count * passes * layout.products, false);
    for (std::size_t row = 0; row < product.rows; row += rows_a_pass) {
      w4_two_tiles<group_k>(product, {slab, count, row, 0}, ahead);
      w4_two_tiles<group_k>(product, {slab, count, row, block_columns / 2}, ahead);
    }
  }
}

template <std::size_t group_k>
AXLE_TILE_VECTOR_TARGET void w4_tiles(const W4Product& product) {
  if (product.rows * product.planes <= tile_rows) {
    w4_one_tile<group_k>(product);
  } else {
    w4_many_tiles<group_k>(product);
  }
}

AXLE_TILE_VECTOR_TARGET void multiply_w4_tiles(const W4Product& product) {
  __builtin_memset(product.sums, 0, product.rows * block_columns * sizeof(float));
  switch (product.group) {
    case 32:
      return w4_tiles<32>(product);
    case 64:
      return w4_tiles<64>(product);
    default:
      return w4_tiles<128>(product);
  }
}

}  // namespace
}  // namespace axle::runtime
