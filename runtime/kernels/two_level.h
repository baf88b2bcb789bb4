#pragma once
// 4-bit weights with two levels of scales: unpacked to int8, some slabs at a time, for the product
// with int8 weights that the set has. A vector header comes first.

#include <cstddef>
#include <cstdint>

#include "runtime/kernel.h"

namespace axle::runtime {
namespace {

/// Slabs that are unpacked at a time: they stay in L1.
inline constexpr std::size_t unpacked_slabs = 8;
inline constexpr std::size_t unpacked_slab_bytes = depth_multiple * block_columns;
inline constexpr std::size_t unpack_ahead = 8192;

/// (u4 - 8) * sub_scale: the product u4 * sub_scale, at most 225, stays in its byte, so that one
/// 16-bit multiplication makes two of them.
AXLE_VECTOR_OP Vector::Ints scaled_bytes(Vector::Ints nibbles, Vector::Ints sub_scale,
                                         Vector::Ints eightfold) {
  const Vector::Ints halves = Vector::bit_and(nibbles, Vector::broadcast_int(0x0f0f0f0f));
  return Vector::subtract_bytes(Vector::multiply_int16(halves, sub_scale), eightfold);
}

/// Of one slab of nibbles the int8 weights of the columns whose bytes begin at `c` of each row, a
/// vector of them.
AXLE_VECTOR_OP void unpack_scaled_columns(const std::uint8_t* from, const std::uint8_t* sub_scales,
                                          std::size_t c, std::int8_t* to) {
  constexpr std::size_t row_bytes = 4 * block_columns;
  constexpr std::size_t rows = nibble_slab_bytes / row_bytes;
  const Vector::Ints both = Vector::spread_bytes(sub_scales + c / 4);
  const Vector::Ints low = Vector::bit_and(both, Vector::broadcast_int(0x000f000f));
  const Vector::Ints high =
      Vector::bit_and(Vector::shift_right<4>(both), Vector::broadcast_int(0x000f000f));
  const Vector::Ints low_eightfold =
      Vector::bit_and(Vector::shift_left<3>(both), Vector::broadcast_int(0x78787878));
  const Vector::Ints high_eightfold =
      Vector::bit_and(Vector::shift_right<1>(both), Vector::broadcast_int(0x78787878));
  AXLE_UNROLL
  for (std::size_t i = 0; i < rows; ++i) {
    const std::uint8_t* const place = from + i * row_bytes + c;
    const Vector::Ints nibbles = Vector::load_ints(place);
    if (c % 64 == 0) __builtin_prefetch(place + unpack_ahead, 0, 3);
    Vector::store_ints(to + i * row_bytes + c, scaled_bytes(nibbles, low, low_eightfold));
    Vector::store_ints(to + (rows + i) * row_bytes + c,
                       scaled_bytes(Vector::shift_right<4>(nibbles), high, high_eightfold));
  }
}

/// One slab of nibbles as a slab of int8 weights.
AXLE_TARGET void unpack_scaled_slab(const std::uint8_t* from, const std::uint8_t* sub_scales,
                                    std::int8_t* to) {
  for (std::size_t c = 0; c < 4 * block_columns; c += Vector::bytes)
    unpack_scaled_columns(from, sub_scales, c, to);
}

template <void (*multiply_int8)(const BlockProduct&)>
AXLE_TARGET void multiply_two_level(const TwoLevelProduct& two_level) {
  alignas(64) std::int8_t weights[unpacked_slabs * unpacked_slab_bytes];
  const std::size_t slabs = two_level.product.depth / depth_multiple;
  const std::size_t element = two_level.element_bytes;
  for (std::size_t slab = 0; slab < slabs; slab += unpacked_slabs) {
    const std::size_t count = slabs - slab < unpacked_slabs ? slabs - slab : unpacked_slabs;
    for (std::size_t s = 0; s < count; ++s)
      unpack_scaled_slab(two_level.weights + (slab + s) * nibble_slab_bytes,
                         two_level.sub_scales + (slab + s) * block_columns,
                         weights + s * unpacked_slab_bytes);
    BlockProduct part = two_level.product;
    part.weights = weights;
    part.activations = static_cast<const char*>(part.activations) + slab * depth_multiple * element;
    part.depth = count * depth_multiple;
    part.continues = slab != 0;
    part.in_cache = true;
    multiply_int8(part);
  }
}

}  // namespace
}  // namespace axle::runtime
