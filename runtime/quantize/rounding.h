#pragma once
// Rounding of weights, the same on every machine: plain arithmetic, no function of libm.

#include <cstddef>
#include <cstdint>
#include <cstring>

#include "runtime/half.h"

namespace axle::runtime {

/// To the nearest, ties to even, for |v| < 2^22: beyond 1.5 * 2^23 a float has no fraction.
inline float round_to_even(float v) { return (v + 12582912.0F) - 12582912.0F; }

/// To bfloat16 and back: to the nearest, ties to even. Not for NaN.
inline float round_to_bfloat16(float v) { return float_from_bfloat16(bfloat16_from_float(v)); }

/// Magnitudes are ordered as their bits are: not finite where one of the values is not.
inline float largest_magnitude_of(const float* values, std::size_t count) {
  using Bits [[gnu::vector_size(16)]] = std::int32_t;
  constexpr std::int32_t without_sign = 0x7fffffff;
  Bits most{};
  std::size_t i = 0;
  for (; i + 4 <= count; i += 4) {
    Bits bits;
    std::memcpy(&bits, values + i, sizeof bits);
    bits &= without_sign;
    most = bits > most ? bits : most;
  }
  std::int32_t largest = 0;
  for (int lane = 0; lane < 4; ++lane) largest = most[lane] > largest ? most[lane] : largest;
  for (; i < count; ++i) {
    const std::int32_t bits = static_cast<std::int32_t>(bits_of_float(values[i])) & without_sign;
    largest = bits > largest ? bits : largest;
  }
  float result = 0;
  std::memcpy(&result, &largest, sizeof result);
  return result;
}

}  // namespace axle::runtime
