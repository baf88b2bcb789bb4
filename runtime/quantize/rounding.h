#pragma once
// Rounding of weights, the same on every machine: plain arithmetic, no function of libm.

#include <cstddef>
#include <cstdint>
#include <cstring>

namespace axle::runtime {

inline std::uint32_t bits_of(float v) {
  std::uint32_t bits = 0;
  std::memcpy(&bits, &v, 4);
  return bits;
}

inline float float_of(std::uint32_t bits) {
  float v = 0;
  std::memcpy(&v, &bits, 4);
  return v;
}

/// To the nearest, ties to even, for |v| < 2^22: beyond 1.5 * 2^23 a float has no fraction.
inline float round_to_even(float v) { return (v + 12582912.0F) - 12582912.0F; }

/// To bfloat16 and back: to the nearest, ties to even. Not for NaN.
inline float round_to_bfloat16(float v) {
  const std::uint32_t bits = bits_of(v);
  return float_of((bits + 0x7fffU + ((bits >> 16U) & 1U)) & 0xffff0000U);
}

inline float largest_magnitude_of(const float* values, std::size_t count) {
  float most = 0;
  for (std::size_t i = 0; i < count; ++i) {
    const float magnitude = values[i] < 0 ? -values[i] : values[i];
    if (magnitude > most) most = magnitude;
  }
  return most;
}

}  // namespace axle::runtime
