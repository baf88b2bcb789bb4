#pragma once
// Floats of 16 and 8 bits to float, exactly, and back, to the nearest with ties to even.

#include <cstdint>
#include <cstring>

namespace axle::runtime {

[[nodiscard]] inline float float_of_bits(std::uint32_t bits) {
  float value = 0;
  std::memcpy(&value, &bits, sizeof value);
  return value;
}

[[nodiscard]] inline std::uint32_t bits_of_float(float value) {
  std::uint32_t bits = 0;
  std::memcpy(&bits, &value, sizeof bits);
  return bits;
}

[[nodiscard]] inline float float_from_bfloat16(std::uint16_t half) {
  return float_of_bits(std::uint32_t{half} << 16U);
}

/// A NaN stays one.
[[nodiscard]] inline std::uint16_t bfloat16_from_float(float value) {
  const std::uint32_t bits = bits_of_float(value);
  if ((bits & 0x7fffffffU) > 0x7f800000U) return static_cast<std::uint16_t>((bits >> 16U) | 0x40U);
  return static_cast<std::uint16_t>((bits + 0x7fffU + ((bits >> 16U) & 1U)) >> 16U);
}

/// IEEE 754 binary16. A subnormal is its fraction times 2^-24, which is exact in float.
[[nodiscard]] inline float float_from_float16(std::uint16_t half) {
  const std::uint32_t sign = std::uint32_t{half & 0x8000U} << 16U;
  const std::uint32_t exponent = (half >> 10U) & 0x1fU;
  const std::uint32_t fraction = half & 0x3ffU;
  if (exponent == 0) {
    const float magnitude = static_cast<float>(fraction) * 0x1p-24F;
    return sign != 0 ? -magnitude : magnitude;
  }
  const std::uint32_t wide_exponent = exponent == 31 ? 255 : exponent + 112;
  return float_of_bits(sign | (wide_exponent << 23U) | (fraction << 13U));
}

/// Beyond 65504 to infinity; a NaN stays one.
[[nodiscard]] inline std::uint16_t float16_from_float(float value) {
  const std::uint32_t bits = bits_of_float(value);
  const std::uint16_t sign = static_cast<std::uint16_t>((bits >> 16U) & 0x8000U);
  const std::uint32_t magnitude = bits & 0x7fffffffU;
  if (magnitude > 0x7f800000U) return sign | 0x7e00U;
  if (magnitude >= 0x477ff000U) return sign | 0x7c00U;  // 65520, half way to what would follow
  if (magnitude < 0x38800000U) {
    // Subnormal: adding 0.5 leaves a whole number of steps of 2^-24 in the lowest bits.
    const float shifted = float_of_bits(magnitude) + 0.5F;
    return static_cast<std::uint16_t>(sign | (bits_of_float(shifted) - 0x3f000000U));
  }
  const std::uint32_t rounded = magnitude + 0xfffU + ((magnitude >> 13U) & 1U);
  return static_cast<std::uint16_t>(sign | ((rounded - (112U << 23U)) >> 13U));
}

/// E4M3 of OCP's 8-bit floating point specification: no infinities, one NaN, at most 448.
[[nodiscard]] inline float float_from_float8(std::uint8_t byte) {
  const std::uint32_t sign = std::uint32_t{byte & 0x80U} << 24U;
  const std::uint32_t exponent = (byte >> 3U) & 0xfU;
  const std::uint32_t fraction = byte & 7U;
  if ((byte & 0x7fU) == 0x7fU) return float_of_bits(sign | 0x7fc00000U);
  if (exponent == 0) {
    const float magnitude = static_cast<float>(fraction) * 0x1p-9F;
    return sign != 0 ? -magnitude : magnitude;
  }
  return float_of_bits(sign | ((exponent + 120) << 23U) | (fraction << 20U));
}

/// Beyond 464, half way to what would follow 448, to NaN, as PyTorch has it; a NaN stays one.
[[nodiscard]] inline std::uint8_t float8_from_float(float value) {
  const std::uint32_t bits = bits_of_float(value);
  const std::uint8_t sign = static_cast<std::uint8_t>((bits >> 24U) & 0x80U);
  const std::uint32_t magnitude = bits & 0x7fffffffU;
  if (magnitude > 0x43e80000U) return sign | 0x7fU;
  if (magnitude < 0x3c800000U) {
    // Subnormal: adding 2^14 leaves a whole number of steps of 2^-9 in the lowest bits.
    const float shifted = float_of_bits(magnitude) + 0x1p14F;
    return static_cast<std::uint8_t>(sign | (bits_of_float(shifted) - 0x46800000U));
  }
  const std::uint32_t rounded = magnitude + 0x7ffffU + ((magnitude >> 20U) & 1U);
  return static_cast<std::uint8_t>(sign | ((rounded - (120U << 23U)) >> 20U));
}

}  // namespace axle::runtime
