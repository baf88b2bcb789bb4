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
inline constexpr std::size_t slab_lines = nibble_slab_bytes / 64;
inline constexpr std::size_t w4_ahead = 4096;  ///< from a slab that is unpacked

/// How unpacked slabs lie.
struct W4Layout {
  std::size_t high;      ///< where the other 32 k begin
  std::size_t bytes;     ///< of a slab
  std::size_t products;  ///< a slab: 2 in groups of 32
};

constexpr W4Layout w4_layout(std::size_t group) {
  return group == 32 ? W4Layout{2 * half_slab_bytes, 3 * half_slab_bytes, 2}
                     : W4Layout{half_slab_bytes, 2 * half_slab_bytes, 1};
}

/// `count` lines of a slab, from line `first` on. With `prefetches`, what comes w4_ahead later is
/// asked for meanwhile: where unpacking is what takes the time.
template <std::size_t count, bool prefetches>
AXLE_VECTOR_OP void unpack_lines(const std::uint8_t* from, std::int8_t* low, std::int8_t* high,
                                 std::size_t first) {
  const Vector::Ints mask = Vector::broadcast_int(static_cast<std::int32_t>(0xf0f0f0f0U));
  const Vector::Ints flip = Vector::broadcast_int(static_cast<std::int32_t>(0x80808080U));
  AXLE_UNROLL
  for (std::size_t i = 0; i < count; ++i) {
    const std::size_t at = 64 * (first + i);
    const Vector::Ints nibbles = Vector::load_ints(from + at);
    if constexpr (prefetches) __builtin_prefetch(from + at + w4_ahead, 0, 3);
    Vector::store_ints(low + at, Vector::and_xor(Vector::shift_left<4>(nibbles), mask, flip));
    Vector::store_ints(high + at, Vector::and_xor(nibbles, mask, flip));
  }
}

/// A group's sums, 16 times too large, into the floats of `rows` rows.
struct W4Fold {
  const std::int32_t* high;  ///< of the first plane, or null: one plane
  const std::int32_t* low;
  std::size_t row_ints;  ///< from row to row
  const std::uint16_t* scales;
  float* sums;
  std::size_t rows;
};

template <int vectors>
AXLE_TARGET void fold_tiles(const W4Fold& fold) {
  Vector::Floats scales[vectors];
  AXLE_UNROLL
  for (int c = 0; c < vectors; ++c)
    scales[c] = Vector::multiply(Vector::load_bfloat16(fold.scales + c * vector_lanes),
                                 Vector::broadcast_float(0.0625F));
  for (std::size_t r = 0; r < fold.rows; ++r) {
    float* const to = fold.sums + r * block_columns;
    AXLE_UNROLL
    for (int c = 0; c < vectors; ++c) {
      const std::size_t place = r * fold.row_ints + c * vector_lanes;
      Vector::Ints whole = Vector::load_ints(fold.low + place);
      if (fold.high != nullptr)
        whole = Vector::add(whole, Vector::shift_left<8>(Vector::load_ints(fold.high + place)));
      Vector::store_floats(
          to + c * vector_lanes,
          Vector::add_floats(Vector::load_floats(to + c * vector_lanes),
                             Vector::multiply(Vector::to_floats(whole), scales[c])));
    }
  }
}

/// The lines of a slab, a step further on, at the pace at which they come.
void prefetch_slab(const std::uint8_t* from) {
  const char* const next = reinterpret_cast<const char*>(from) + w4_ahead;
  Ahead ahead{next, next + nibble_slab_bytes, slab_lines, Pace::near};
  advance(ahead);
}

AXLE_TILE_TARGET void zero_sums() {
  tile_zero(0);
  tile_zero(1);
  tile_zero(2);
  tile_zero(3);
}

/// Tiles 0 to 3 side by side: 16 rows of 64 columns.
AXLE_TILE_TARGET void store_sums(std::int32_t* to) {
  tile_store(0, to, sum_stride);
  tile_store(1, to + 16, sum_stride);
  tile_store(2, to + 32, sum_stride);
  tile_store(3, to + 48, sum_stride);
}

/// Up to 16 rows of all planes: 16 rows times 64 columns, a slab being unpacked while the one
/// before it is multiplied, a group being folded while the next one is.
template <std::size_t group_k>
AXLE_TILE_VECTOR_TARGET void w4_one_tile(const W4Product& product) {
  constexpr bool halves = group_k == 32;
  // With fewer sums to fold there is time for nothing but reading: at the pace of reads.
  constexpr bool paced = group_k == 128;
  constexpr W4Layout layout = w4_layout(group_k);
  constexpr std::size_t lines = slab_lines / layout.products / 4;
  alignas(64) std::int8_t unpacked[2][most_unpacked_bytes];
  alignas(64) std::int32_t sums[2][tile_rows * block_columns];
  if constexpr (halves) __builtin_memset(unpacked, 0, sizeof unpacked);
  constexpr std::size_t slabs_a_group = group_k == 128 ? 2 : 1;
  const std::size_t slabs = product.depth / depth_multiple;
  W4Fold fold{nullptr, nullptr, block_columns, product.scales, product.sums, product.rows};
  unpack_lines<slab_lines, true>(product.weights, unpacked[0], unpacked[0] + layout.high, 0);
  std::size_t group = 0;
  for (std::size_t slab = 0; slab < slabs; ++slab) {
    // After the last slab the same one is unpacked once more, to where nobody reads.
    const std::uint8_t* const next =
        product.weights + (slab + 1 < slabs ? slab + 1 : slab) * nibble_slab_bytes;
    std::int8_t* const to = unpacked[(slab + 1) % 2];
    const std::int8_t* const activations =
        static_cast<const std::int8_t*>(product.activations) + slab * depth_multiple;
    if constexpr (paced) prefetch_slab(next);
    for (std::size_t p = 0; p < layout.products; ++p) {
      const std::int8_t* const b = unpacked[slab % 2] + p * half_slab_bytes;
      const std::size_t line = p * slab_lines / layout.products;
      if (slab % slabs_a_group == 0) zero_sums();
      tile_load(4, activations, product.row_bytes);
      tile_load(5, b, slab_stride);
      tile_dot_int8(0, 4, 5);
      unpack_lines<lines, !paced>(next, to, to + layout.high, line);
      tile_load(6, b + 64, slab_stride);
      tile_dot_int8(1, 4, 6);
      unpack_lines<lines, !paced>(next, to, to + layout.high, line + lines);
      tile_load(7, b + 128, slab_stride);
      tile_dot_int8(2, 4, 7);
      unpack_lines<lines, !paced>(next, to, to + layout.high, line + 2 * lines);
      tile_load(5, b + 192, slab_stride);
      tile_dot_int8(3, 4, 5);
      unpack_lines<lines, !paced>(next, to, to + layout.high, line + 3 * lines);
      if ((slab + 1) % slabs_a_group != 0) continue;
      std::int32_t* const place = sums[group % 2];
      store_sums(place);
      if (group != 0) fold_tiles<4>(fold);
      const bool two = product.planes == 2;
      fold.high = two ? place : nullptr;
      fold.low = two ? place + product.rows * block_columns : place;
      fold.scales = product.scales + group * block_columns;
      ++group;
    }
  }
  fold_tiles<4>(fold);
}

inline constexpr std::size_t w4_block_slabs = 4;

/// Slabs [slab, slab + count), unpacked, times two tiles of rows: of one plane 32 rows, of two
/// planes 16 rows. `column` is 0 or 32.
struct W4TilePass {
  const std::int8_t* unpacked;
  std::size_t slab;
  std::size_t count;
  std::size_t row;
  std::size_t column;
};

AXLE_TILE_VECTOR_TARGET void w4_two_tiles(const W4Product& product, const W4TilePass& pass,
                                          Ahead& ahead) {
  constexpr std::size_t half_columns = block_columns / 2;
  constexpr std::size_t half_stride = half_columns * sizeof(std::int32_t);
  alignas(64) std::int32_t sums[2][2 * tile_rows * half_columns];
  const W4Layout layout = w4_layout(product.group);
  const std::size_t slabs_a_group = product.group == 128 ? 2 : 1;
  const bool two = product.planes == 2;
  const std::size_t lower_row = two ? product.rows + pass.row : pass.row + tile_rows;
  const std::size_t most = two ? tile_rows : 2 * tile_rows;
  const std::size_t left = product.rows - pass.row;
  W4Fold fold{nullptr,
              nullptr,
              half_columns,
              nullptr,
              product.sums + pass.row * block_columns + pass.column,
              left < most ? left : most};
  const std::int8_t* const all = static_cast<const std::int8_t*>(product.activations);
  std::size_t group = pass.slab * depth_multiple / product.group;
  for (std::size_t s = 0; s < pass.count; ++s) {
    const std::size_t k = (pass.slab + s) * depth_multiple;
    for (std::size_t p = 0; p < layout.products; ++p) {
      const std::int8_t* const b =
          pass.unpacked + s * layout.bytes + p * half_slab_bytes + 4 * pass.column;
      if (s % slabs_a_group == 0) zero_sums();
      advance(ahead);
      tile_load(4, all + pass.row * product.row_bytes + k, product.row_bytes);
      tile_load(6, b, slab_stride);
      tile_dot_int8(0, 4, 6);
      tile_load(7, b + 64, slab_stride);
      tile_dot_int8(1, 4, 7);
      tile_load(5, all + lower_row * product.row_bytes + k, product.row_bytes);
      tile_dot_int8(2, 5, 6);
      tile_dot_int8(3, 5, 7);
      if ((s + 1) % slabs_a_group != 0) continue;
      std::int32_t* const place = sums[group % 2];
      std::int32_t* const lower = place + tile_rows * half_columns;
      tile_store(0, place, half_stride);
      tile_store(1, place + 16, half_stride);
      tile_store(2, lower, half_stride);
      tile_store(3, lower + 16, half_stride);
      if (fold.low != nullptr) fold_tiles<2>(fold);
      fold.high = two ? place : nullptr;
      fold.low = two ? lower : place;
      fold.scales = product.scales + group * block_columns + pass.column;
      ++group;
    }
  }
  fold_tiles<2>(fold);
}

/// More rows: some slabs are unpacked, then all rows pass over them.
AXLE_TILE_VECTOR_TARGET void w4_many_tiles(const W4Product& product) {
  const W4Layout layout = w4_layout(product.group);
  alignas(64) std::int8_t unpacked[w4_block_slabs * most_unpacked_bytes];
  if (layout.products == 2) __builtin_memset(unpacked, 0, sizeof unpacked);
  const std::size_t slabs = product.depth / depth_multiple;
  const std::size_t rows_a_pass = product.planes == 2 ? tile_rows : 2 * tile_rows;
  const std::size_t passes = 2 * ((product.rows + rows_a_pass - 1) / rows_a_pass) * layout.products;
  for (std::size_t slab = 0; slab < slabs; slab += w4_block_slabs) {
    const std::size_t count = slabs - slab < w4_block_slabs ? slabs - slab : w4_block_slabs;
    const std::uint8_t* const from = product.weights + slab * nibble_slab_bytes;
    for (std::size_t s = 0; s < count; ++s) {
      std::int8_t* const to = unpacked + s * layout.bytes;
      unpack_lines<slab_lines, false>(from + s * nibble_slab_bytes, to, to + layout.high, 0);
    }
    const char* const next = reinterpret_cast<const char*>(from) + count * nibble_slab_bytes;
    Ahead ahead{next, next + count * nibble_slab_bytes, (slab_lines + passes - 1) / passes,
                Pace::slow};
    for (std::size_t row = 0; row < product.rows; row += rows_a_pass) {
      w4_two_tiles(product, {unpacked, slab, count, row, 0}, ahead);
      w4_two_tiles(product, {unpacked, slab, count, row, block_columns / 2}, ahead);
    }
  }
}

AXLE_TILE_VECTOR_TARGET void multiply_w4_tiles(const W4Product& product) {
  __builtin_memset(product.sums, 0, product.rows * block_columns * sizeof(float));
  if (product.rows * product.planes <= tile_rows) {
    switch (product.group) {
      case 32:
        return w4_one_tile<32>(product);
      case 64:
        return w4_one_tile<64>(product);
      default:
        return w4_one_tile<128>(product);
    }
  }
  w4_many_tiles(product);
}

/// Two levels of scales, up to 16 rows: the tiles hold the sums of the whole depth; of the next
/// slab, the columns of one B tile are unpacked after each product.
AXLE_TILE_VECTOR_TARGET void two_level_one_tile(const TwoLevelProduct& two_level) {
  alignas(64) std::int8_t unpacked[2][slab_bytes];
  const BlockProduct& product = two_level.product;
  const std::size_t slabs = product.depth / depth_multiple;
  unpack_scaled_slab(two_level.weights, two_level.sub_scales, unpacked[0]);
  zero_sums();
  for (std::size_t slab = 0; slab < slabs; ++slab) {
    // After the last slab the same one is unpacked once more, to where nobody reads.
    const std::size_t following = slab + 1 < slabs ? slab + 1 : slab;
    const std::uint8_t* const next = two_level.weights + following * nibble_slab_bytes;
    const std::uint8_t* const sub_scales = two_level.sub_scales + following * block_columns;
    std::int8_t* const to = unpacked[(slab + 1) % 2];
    const std::int8_t* const b = unpacked[slab % 2];
    tile_load(4, static_cast<const std::int8_t*>(product.activations) + slab * depth_multiple,
              product.row_bytes);
    tile_load(5, b, slab_stride);
    tile_dot_int8(0, 4, 5);
    unpack_scaled_columns(next, sub_scales, 0, to);
    tile_load(6, b + 64, slab_stride);
    tile_dot_int8(1, 4, 6);
    unpack_scaled_columns(next, sub_scales, 64, to);
    tile_load(7, b + 128, slab_stride);
    tile_dot_int8(2, 4, 7);
    unpack_scaled_columns(next, sub_scales, 128, to);
    tile_load(5, b + 192, slab_stride);
    tile_dot_int8(3, 4, 5);
    unpack_scaled_columns(next, sub_scales, 192, to);
  }
  store_sums(product.sums);
}

void multiply_two_level_tiles(const TwoLevelProduct& two_level) {
  if (two_level.product.rows <= tile_rows) {
    two_level_one_tile(two_level);
  } else {
    multiply_two_level_unpacked<multiply>(two_level);
  }
}

}  // namespace
}  // namespace axle::runtime
