#pragma once
// Weights as int8, w = q * scale with q in [-127, 127].

#include <cstddef>
#include <cstdint>

#include "runtime/quantize/rounding.h"

namespace axle::runtime {

/// The largest magnitude on 127.
[[nodiscard]] inline float int8_scale(const float* weights, std::size_t count) {
  return largest_magnitude_of(weights, count) / 127.0F;
}

/// To the nearest, ties to even: a double of this size has no fraction left. Zero for a scale of
/// zero.
[[nodiscard]] inline std::int8_t quantise_to_int8(float weight, float scale) {
  if (scale == 0) return 0;
  const double ratio = static_cast<double>(weight) / static_cast<double>(scale);
  constexpr double shift = 6755399441055744.0;
  const volatile double shifted = ratio + shift;
  const double rounded = shifted - shift;
  return static_cast<std::int8_t>(rounded > 127 ? 127 : rounded < -127 ? -127 : rounded);
}

}  // namespace axle::runtime
