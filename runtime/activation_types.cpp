#include "runtime/activation_types.h"

#include <cstdint>
#include <cstring>

namespace axle::runtime {
namespace {

float from_bits(std::uint32_t bits) {
  float value = 0;
  std::memcpy(&value, &bits, 4);
  return value;
}

float from_bfloat16(std::uint16_t half) { return from_bits(std::uint32_t{half} << 16U); }

/// IEEE 754 binary16. A subnormal is its fraction times 2^-24, which is exact in float.
float from_float16(std::uint16_t half) {
  const std::uint32_t sign = std::uint32_t{half & 0x8000U} << 16U;
  const std::uint32_t exponent = (half >> 10U) & 0x1fU;
  const std::uint32_t fraction = half & 0x3ffU;
  if (exponent == 0) {
    const float magnitude = static_cast<float>(fraction) * 0x1p-24F;
    return sign != 0 ? -magnitude : magnitude;
  }
  const std::uint32_t wide_exponent = exponent == 31 ? 255 : exponent + 112;
  return from_bits(sign | (wide_exponent << 23U) | (fraction << 13U));
}

template <class Convert>
void convert_halves(const void* from, std::size_t count, float* to, Convert convert) {
  const std::uint16_t* const halves = static_cast<const std::uint16_t*>(from);
  for (std::size_t i = 0; i < count; ++i) to[i] = convert(halves[i]);
}

}  // namespace

std::size_t activation_bytes(axle_type type) {
  if (type == AXLE_FLOAT32) return 4;
  if (type == AXLE_BFLOAT16 || type == AXLE_FLOAT16) return 2;
  return 0;
}

void convert_to_float(axle_type type, const void* from, std::size_t count, float* to) {
  if (type == AXLE_FLOAT32) std::memcpy(to, from, count * sizeof(float));
  if (type == AXLE_BFLOAT16) convert_halves(from, count, to, from_bfloat16);
  if (type == AXLE_FLOAT16) convert_halves(from, count, to, from_float16);
}

}  // namespace axle::runtime
