#pragma once
// float8 e4m3 as OCP's 8-bit floating point specification has it ("E4M3": a bias of 7, no infinity,
// one NaN a sign, largest 448).

#include <cstdint>

namespace axle::runtime {

inline constexpr float largest_float8 = 448.0F;

/// To the nearest, ties to even; beyond the largest, the largest. Not for NaN.
[[nodiscard]] std::uint8_t to_float8(float v);

[[nodiscard]] float from_float8(std::uint8_t bits);

[[nodiscard]] constexpr bool is_nan_float8(std::uint8_t bits) { return (bits & 0x7fU) == 0x7fU; }

}  // namespace axle::runtime
