#include "runtime/quantize/float8.h"

#include "runtime/quantize/rounding.h"

namespace axle::runtime {

std::uint8_t to_float8(float v) {
  const std::uint32_t sign = bits_of(v) >> 31U << 7U;
  const float magnitude = v < 0 ? -v : v;
  std::uint32_t bits = 0;
  if (magnitude >= largest_float8) {
    bits = 0x7e;
  } else if (magnitude < 0x1p-6F) {
    // Subnormal: steps of 2^-9; eight of them are the smallest normal number's bits.
    bits = static_cast<std::uint32_t>(round_to_even(magnitude * 512.0F));
  } else {
    std::uint32_t wide = bits_of(magnitude);
    wide += 0x7ffffU + ((wide >> 20U) & 1U);
    bits = (wide >> 20U) - (120U << 3U);
  }
  return static_cast<std::uint8_t>(sign | bits);
}

float from_float8(std::uint8_t bits) {
  if (is_nan_float8(bits)) return float_of(0x7fc00000U);
  const std::uint32_t wide = (bits & 0x80U) << 24U | (bits & 0x7fU) << 20U;
  return float_of(wide) * 0x1p120F;
}

}  // namespace axle::runtime
