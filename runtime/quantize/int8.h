#pragma once
// Float weights to 8 bits, w = q * scale with q in [-127, 127] and a scale for each output channel.

#include <cstddef>
#include <cstdint>

#include "runtime/quantize/rounding.h"

namespace axle::runtime {

/// The largest magnitude on 127.
[[nodiscard]] inline float int8_scale(const float* weights, std::size_t count) {
  return largest_magnitude_of(weights, count) / 127.0F;
}

/// To the nearest q, ties to even, of the exact quotients; zeros for a scale of zero.
void quantise_to_int8(const float* weights, std::size_t count, float scale, std::int8_t* q);

}  // namespace axle::runtime
