#pragma once
// Rounding of weights, the same on every machine: plain arithmetic, no function of libm.

#include <cstddef>
#include <cstdint>

#include "runtime/half.h"

namespace axle::runtime {

/// To the nearest, ties to even, for |v| < 2^22: beyond 1.5 * 2^23 a float has no fraction.
inline float round_to_even(float v) { return (v + 12582912.0F) - 12582912.0F; }

/// To bfloat16 and back: to the nearest, ties to even. Not for NaN.
inline float round_to_bfloat16(float v) { return float_from_bfloat16(bfloat16_from_float(v)); }

inline float largest_magnitude_of(const float* values, std::size_t count) {
  float most = 0;
  for (std::size_t i = 0; i < count; ++i) {
    const float magnitude = values[i] < 0 ? -values[i] : values[i];
    if (magnitude > most) most = magnitude;
  }
  return most;
}

}  // namespace axle::runtime
