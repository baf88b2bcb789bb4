#pragma once
// 4-bit weights with two levels of scales on AMX tiles: unpacked, they are int8 weights, and the
// tiles hold the sums of the whole depth. two_level.h and amx_w4.h come first.

#include <cstddef>
#include <cstdint>

#include "runtime/kernel.h"

namespace axle::runtime {
namespace {

/// Where a slab is unpacked from.
struct ScaledSlab {
  const std::uint8_t* nibbles;
  const std::uint8_t* sub_scales;

  /// The columns at byte `c` of each row.
  AXLE_TILE_VECTOR_TARGET void unpack(std::size_t c, std::int8_t* to, std::size_t to_stride) const {
    unpack_scaled_columns<false>(nibbles, sub_scales, c, to, to_stride);
  }
};

/// Slab `slab` of a pass; behind the last one that one once more, which nobody multiplies then.
ScaledSlab scaled_slab(const TwoLevelProduct& product, const NibblePass& pass, std::size_t slab) {
  const std::size_t at = pass.slab + (slab < pass.count ? slab : pass.count - 1);
  return {product.weights + at * nibble_slab_bytes, product.sub_scales + at * block_columns};
}

/// 16 rows times 64 columns: after each product, the columns of one B tile of the next slab.
AXLE_TILE_VECTOR_TARGET void two_level_one_tile(const TwoLevelProduct& two_level,
                                                const NibblePass& pass, Ahead& ahead) {
  alignas(64) std::int8_t unpacked[2][slab_bytes];
  const BlockProduct& product = two_level.product;
  const std::int8_t* const activations = static_cast<const std::int8_t*>(product.activations) +
                                         pass.row * product.row_bytes + pass.slab * depth_multiple;
  std::int32_t* const sums = product.sums + pass.row * block_columns;
  for (std::size_t c = 0; c < slab_stride; c += tile_row_bytes)
    scaled_slab(two_level, pass, 0).unpack(c, unpacked[0] + c, slab_stride);
  if (pass.slab == 0) {
    zero_sums();
  } else {
    load_sums(sums);
  }
  for (std::size_t slab = 0; slab < pass.count; ++slab) {
    const std::int8_t* const b = unpacked[slab % 2];
    std::int8_t* const to = unpacked[(slab + 1) % 2];
    const ScaledSlab next = scaled_slab(two_level, pass, slab + 1);
    tile_load(4, activations + slab * depth_multiple, product.row_bytes);
    tile_load(5, b, slab_stride);
    tile_dot_int8(0, 4, 5);
    advance(ahead);
    next.unpack(0, to, slab_stride);
    tile_load(6, b + 64, slab_stride);
    tile_dot_int8(1, 4, 6);
    advance(ahead);
    next.unpack(64, to + 64, slab_stride);
    tile_load(7, b + 128, slab_stride);
    tile_dot_int8(2, 4, 7);
    advance(ahead);
    next.unpack(128, to + 128, slab_stride);
    tile_load(5, b + 192, slab_stride);
    tile_dot_int8(3, 4, 5);
    advance(ahead);
    next.unpack(192, to + 192, slab_stride);
  }
  store_sums(sums);
}

/// 32 rows times 32 columns. Each pass of rows unpacks anew: that takes less time than the products
/// do, and no buffer beyond L1.
AXLE_TILE_VECTOR_TARGET void two_level_two_tiles(const TwoLevelProduct& two_level,
                                                 const NibblePass& pass, Ahead& ahead) {
  alignas(page_bytes) std::int8_t unpacked[halves_in_turn][slab_bytes / 2];
  const BlockProduct& product = two_level.product;
  const std::int8_t* const activations = static_cast<const std::int8_t*>(product.activations) +
                                         pass.row * product.row_bytes + pass.slab * depth_multiple;
  const std::int8_t* const lower = activations + tile_rows * product.row_bytes;
  std::int32_t* const sums = product.sums + pass.row * block_columns + pass.column;
  std::int32_t* const lower_sums = sums + tile_rows * block_columns;
  const std::size_t left = step_depth * pass.column;
  for (std::size_t slab = 0; slab < halves_ahead; ++slab) {
    const ScaledSlab from = scaled_slab(two_level, pass, slab);
    from.unpack(left, unpacked[slab], half_row_bytes);
    from.unpack(left + 64, unpacked[slab] + 64, half_row_bytes);
  }
  if (pass.slab == 0) {
    zero_sums();
  } else {
    tile_load(0, sums, sum_stride);
    tile_load(1, sums + 16, sum_stride);
    tile_load(2, lower_sums, sum_stride);
    tile_load(3, lower_sums + 16, sum_stride);
  }
  for (std::size_t slab = 0; slab < pass.count; ++slab) {
    const std::int8_t* const b = unpacked[slab % halves_in_turn];
    std::int8_t* const to = unpacked[(slab + halves_ahead) % halves_in_turn];
    const ScaledSlab next = scaled_slab(two_level, pass, slab + halves_ahead);
    tile_load(4, activations + slab * depth_multiple, product.row_bytes);
    tile_load(6, b, half_row_bytes);
    tile_dot_int8(0, 4, 6);
    tile_load(7, b + 64, half_row_bytes);
    tile_dot_int8(1, 4, 7);
    advance(ahead);
    next.unpack(left, to, half_row_bytes);
    tile_load(5, lower + slab * depth_multiple, product.row_bytes);
    tile_dot_int8(2, 5, 6);
    next.unpack(left + 64, to + 64, half_row_bytes);
    tile_dot_int8(3, 5, 7);
    advance(ahead);
  }
  tile_store(0, sums, sum_stride);
  tile_store(1, sums + 16, sum_stride);
  tile_store(2, lower_sums, sum_stride);
  tile_store(3, lower_sums + 16, sum_stride);
}

void multiply_two_level_tiles(const TwoLevelProduct& two_level) {
  const BlockProduct& product = two_level.product;
  const std::size_t slabs = product.depth / depth_multiple;
  if (product.rows <= tile_rows) {
    Ahead ahead = streamed_nibbles(two_level.weights, slabs, advances_a_slab(1) * slabs);
    return two_level_one_tile(two_level, {0, slabs, 0, 0}, ahead);
  }
  for (std::size_t slab = 0; slab < slabs; slab += nibble_slabs_together) {
    const std::size_t count =
        slabs - slab < nibble_slabs_together ? slabs - slab : nibble_slabs_together;
    Ahead ahead = ahead_in_turn(
        two_level.weights + (slab + nibble_slabs_together) * nibble_slab_bytes - turn_bytes,
        count * nibble_slab_bytes, count * advances_a_slab(product.rows), false);
    for (std::size_t row = 0; row < product.rows; row += 2 * tile_rows) {
      if (product.rows - row <= tile_rows) {
        two_level_one_tile(two_level, {slab, count, row, 0}, ahead);
      } else {
        two_level_two_tiles(two_level, {slab, count, row, 0}, ahead);
        two_level_two_tiles(two_level, {slab, count, row, block_columns / 2}, ahead);
      }
    }
  }
}

}  // namespace
}  // namespace axle::runtime
