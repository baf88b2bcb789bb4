#pragma once
// Weights as float8 e4m3 (OCP's 8-bit floating point specification, "E4M3": largest 448, no
// infinity, one NaN a sign).

#include <cstdint>

#include "runtime/half.h"

namespace axle::runtime {

inline constexpr float largest_float8 = 448.0F;

/// To the nearest, ties to even; beyond the largest, the largest. Not for NaN.
[[nodiscard]] inline std::uint8_t to_float8(float v) {
  return float8_from_float(v > largest_float8    ? largest_float8
                           : v < -largest_float8 ? -largest_float8
                                                 : v);
}

[[nodiscard]] constexpr bool is_nan_float8(std::uint8_t bits) { return (bits & 0x7fU) == 0x7fU; }

}  // namespace axle::runtime
