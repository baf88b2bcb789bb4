#pragma once
// 4-bit weights with two levels of scales: made int8 for the product with int8 weights that the set
// has. With few rows that is done in registers, again for each group of rows; with many, some slabs
// at a time are unpacked for all of them. multiply.h and multiply_w4.h come first.

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

inline constexpr std::size_t slab_row_bytes = 4 * block_columns;

/// Of one slab of nibbles the int8 weights of the columns whose bytes begin at `c` of each row, a
/// vector of them, to rows that lie `to_stride` apart. With `prefetches`, what comes unpack_ahead
/// later is asked for meanwhile.
template <bool prefetches>
AXLE_VECTOR_OP void unpack_scaled_columns(const std::uint8_t* from, const std::uint8_t* sub_scales,
                                          std::size_t c, std::int8_t* to, std::size_t to_stride) {
  constexpr std::size_t rows = nibble_slab_bytes / slab_row_bytes;
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
    const std::uint8_t* const place = from + i * slab_row_bytes + c;
    const Vector::Ints nibbles = Vector::load_ints(place);
    if (prefetches && c % 64 == 0) __builtin_prefetch(place + unpack_ahead, 0, 3);
    Vector::store_ints(to + i * to_stride, scaled_bytes(nibbles, low, low_eightfold));
    Vector::store_ints(to + (rows + i) * to_stride,
                       scaled_bytes(Vector::shift_right<4>(nibbles), high, high_eightfold));
  }
}

/// One slab of nibbles as a slab of int8 weights. Tiles have their own.
[[maybe_unused]] AXLE_TARGET void unpack_scaled_slab(const std::uint8_t* from,
                                                     const std::uint8_t* sub_scales,
                                                     std::int8_t* to) {
  for (std::size_t c = 0; c < slab_row_bytes; c += Vector::bytes)
    unpack_scaled_columns<true>(from, sub_scales, c, to + c, slab_row_bytes);
}

/// What the weights of one group of 32 k are multiplied with, and eight times that, for `width`
/// vectors of columns.
template <int width>
struct GroupFactors {
  Vector::Ints factor[width];
  Vector::Ints eightfold[width];
};

/// Of both groups of a slab, from `sub_scales` at the first column on.
template <int width>
AXLE_VECTOR_OP void spread_factors(const std::uint8_t* sub_scales, GroupFactors<width>& low,
                                   GroupFactors<width>& high) {
  const Vector::Ints mask = Vector::broadcast_int(0x000f000f);
  const Vector::Ints eightfold_mask = Vector::broadcast_int(0x78787878);
  AXLE_UNROLL
  for (int c = 0; c < width; ++c) {
    const Vector::Ints both = Vector::spread_bytes(sub_scales + c * (Vector::bytes / 4));
    low.factor[c] = Vector::bit_and(both, mask);
    low.eightfold[c] = Vector::bit_and(Vector::shift_left<3>(both), eightfold_mask);
    high.factor[c] = Vector::bit_and(Vector::shift_right<4>(both), mask);
    high.eightfold[c] = Vector::bit_and(Vector::shift_right<1>(both), eightfold_mask);
  }
}

/// The products of 32 k of a slab, at `weights`, added to the sums.
template <class Product, bool high, int Rows, int Width>
AXLE_VECTOR_OP void multiply_scaled(const std::uint8_t* weights,
                                    const typename Product::Activation* activations,
                                    std::size_t row_stride, const GroupFactors<Width>& factors,
                                    Vector::Ints (&total)[Rows][Width], Ahead& ahead) {
  AXLE_ROLLED
  for (int step = 0; step < half_slab_steps; ++step) {
    if (step % steps_unrolled == 0) advance(ahead);
    Vector::Ints weight[Width];
    AXLE_UNROLL
    for (int c = 0; c < Width; ++c) {
      Vector::Ints nibbles = Vector::load_ints(weights + c * Vector::bytes);
      if constexpr (high) nibbles = Vector::shift_right<4>(nibbles);
      weight[c] = scaled_bytes(nibbles, factors.factor[c], factors.eightfold[c]);
    }
    AXLE_UNROLL
    for (int r = 0; r < Rows; ++r) {
      const auto a = Product::activations(activations + r * row_stride);
      AXLE_UNROLL
      for (int c = 0; c < Width; ++c) total[r][c] = Product::add(total[r][c], a, weight[c]);
    }
    weights += step_bytes;
    activations += step_depth;
  }
}

/// For multiply_by: ranges consist of whole slabs.
struct TwoLevelWeights {
  static constexpr std::size_t bytes_a_step = step_bytes / 2;
  const std::uint8_t* nibbles;
  const std::uint8_t* sub_scales;

  template <class Product, int Rows, int Width>
  AXLE_VECTOR_OP void multiply(const TwoLevelWeights& all, std::size_t column, std::size_t step,
                               std::size_t steps, const typename Product::Activation* activations,
                               std::size_t row_stride, Vector::Ints (&total)[Rows][Width],
                               Ahead& ahead) {
    static_assert(Product::weight_bytes == Vector::bytes);
    constexpr std::size_t slab_steps = depth_multiple / step_depth;
    for (std::size_t slab = step / slab_steps; slab < (step + steps) / slab_steps; ++slab) {
      const std::uint8_t* const weights =
          all.nibbles + slab * nibble_slab_bytes + column * step_depth;
      GroupFactors<Width> low;
      GroupFactors<Width> high;
      spread_factors(all.sub_scales + slab * block_columns + column, low, high);
      multiply_scaled<Product, false>(weights, activations, row_stride, low, total, ahead);
      multiply_scaled<Product, true>(weights, activations + half_slab_depth, row_stride, high,
                                     total, ahead);
      activations += depth_multiple;
    }
  }
};

/// By any product with int8 weights.
template <void (*multiply_int8)(const BlockProduct&)>
AXLE_TARGET void multiply_two_level_unpacked(const TwoLevelProduct& two_level) {
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
    part.next = two_level.weights + (slab + count) * nibble_slab_bytes;
    part.next_bytes = unpacked_slabs * nibble_slab_bytes;
    multiply_int8(part);
  }
}

template <class Product>
AXLE_TARGET void multiply_two_level(const TwoLevelProduct& two_level) {
  if constexpr (Product::most_scaled_rows > 0) {
    if (two_level.product.rows <= Product::most_scaled_rows)
      return multiply_by<Product>(two_level.product,
                                  TwoLevelWeights{two_level.weights, two_level.sub_scales},
                                  two_level.weights);
  }
  multiply_two_level_unpacked<multiply<Product>>(two_level);
}

}  // namespace
}  // namespace axle::runtime
