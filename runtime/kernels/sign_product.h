#pragma once
// The integer product of CPUs that multiply bytes only as uint8 times int8 and add two such
// products in int16 (PMADDUBSW of SSSE3, AVX2, AVX-512BW): |a| times the weight with the sign of a.

#include <cstddef>
#include <cstdint>

#include "runtime/kernel.h"
#include "runtime/kernels/float_steps.h"
#include "runtime/kernels/multiply.h"

namespace axle::runtime {
namespace {

/// The weight gets a's sign by an exclusive or with all bits of it: a negative a then adds
/// |a| * (-w - 1), and the sum of all such |a| is what a row starts from. Unlike PSIGNB this holds
/// for a weight of -128. And nothing saturates: |a| <= 128 and -128 <= w <= 127, so that the sum of
/// two products lies between -32768 and 32512.
struct SignProduct {
  using Activation = std::uint16_t;  ///< four of them: four magnitudes and four signs
  struct Four {
    Vector::Ints magnitudes;
    Vector::Ints signs;
  };
  static constexpr int most_rows = 4;
  static constexpr std::size_t most_scaled_rows = Vector::registers == 32 ? 16 : 4;
  static constexpr std::size_t weight_bytes = Vector::bytes;
  static constexpr std::size_t columns = weight_bytes / step_depth;

  AXLE_VECTOR_OP Vector::Ints start(const Activation* row, std::size_t row_stride,
                                    const std::int32_t* /*correction*/) {
    std::int32_t negative = 0;
    __builtin_memcpy(&negative, row + row_stride - row_gap / sizeof(Activation), 4);
    return Vector::broadcast_int(negative);
  }
  AXLE_VECTOR_OP Vector::Ints resume(const std::int32_t* sums) { return Vector::load_ints(sums); }
  AXLE_VECTOR_OP Vector::Ints weights(const std::int8_t* from) { return Vector::load_ints(from); }
  AXLE_VECTOR_OP Four activations(const Activation* from) {
    const std::uint8_t* const bytes = reinterpret_cast<const std::uint8_t*>(from);
    return {Vector::broadcast_four_bytes(bytes), Vector::broadcast_four_bytes(bytes + 4)};
  }
  AXLE_VECTOR_OP Vector::Ints add(Vector::Ints sums, const Four& activation, Vector::Ints weight) {
    const Vector::Ints pairs =
        Vector::multiply_bytes(activation.magnitudes, Vector::bit_xor(weight, activation.signs));
    return Vector::add_pairs_multiplied(sums, pairs, Vector::broadcast_int(0x00010001));
  }
  AXLE_VECTOR_OP void store(std::int32_t* to, Vector::Ints v, bool /*first*/) {
    Vector::store_ints(to, v);
  }
};

/// Splits 64 int8 values, four in a word; returns the sum of the magnitudes of the negative ones.
AXLE_TARGET std::uint32_t split_signs(const std::int8_t* values, std::uint8_t* to) {
  std::uint32_t pairs = 0;
  for (std::size_t i = 0; i < depth_multiple / 4; ++i) {
    std::uint32_t four = 0;
    __builtin_memcpy(&four, values + 4 * i, 4);
    const std::uint32_t negative = (four & 0x80808080U) >> 7U;
    const std::uint32_t signs = (negative << 8U) - negative;
    const std::uint32_t magnitudes = (four ^ signs) + negative;
    __builtin_memcpy(to + 8 * i, &magnitudes, 4);
    __builtin_memcpy(to + 8 * i + 4, &signs, 4);
    const std::uint32_t counted = magnitudes & signs;
    pairs += (counted & 0x00ff00ffU) + ((counted >> 8U) & 0x00ff00ffU);
  }
  return (pairs & 0xffffU) + (pairs >> 16U);
}

[[maybe_unused]] AXLE_TARGET void quantise_with_signs(const float* x, std::size_t count,
                                                      float inverse_scale, void* high, void* low) {
  std::uint32_t negative[2] = {0, 0};
  void* const planes[2] = {high, low};
  const int plane_count = low == nullptr ? 1 : 2;
  for (std::size_t i = 0; i < count; i += depth_multiple) {
    alignas(64) std::int8_t values[2][depth_multiple];
    quantise<AsInt8>(x + i, depth_multiple, inverse_scale, values[0],
                     low == nullptr ? nullptr : values[1]);
    for (int p = 0; p < plane_count; ++p)
      negative[p] += split_signs(values[p], static_cast<std::uint8_t*>(planes[p]) + 2 * i);
  }
  for (int p = 0; p < plane_count; ++p)
    __builtin_memcpy(static_cast<std::uint8_t*>(planes[p]) + 2 * count, &negative[p], 4);
}

}  // namespace
}  // namespace axle::runtime
