#pragma once
// Float weights to 4 bits, w = q * scale with q in [-8, 7]: a scale for each group of up to 128
// weights, or a scale for a whole output channel with a factor of 1 to 15 for each 32 weights.

#include <cstddef>
#include <cstdint>

#include "runtime/axle_runtime.h"

namespace axle::runtime {

/// A scale as it is stored: rounded to bfloat16; zero when below 2^-100 (kernels take a sixteenth
/// of it, which must not lose bits).
[[nodiscard]] float stored_int4_scale(float scale);

/// The scale of a group, as stored, chosen as `scaling` (not AXLE_TWO_LEVEL) says; may be negative.
[[nodiscard]] float int4_scale(axle_scaling scaling, const float* weights, std::size_t count);

/// To the nearest q, ties to even; zeros for a scale of zero.
void quantise_to_int4(const float* weights, std::size_t count, float scale, std::int8_t* q);

inline constexpr std::size_t two_level_group = 32;

/// The scale of a channel of `count` weights, and the factor of each 32 of them: [count / 32
/// rounded up], 1 to 15. The weights of group g are then quantised by scale * factors[g].
[[nodiscard]] float two_level_scales(const float* weights, std::size_t count,
                                     std::uint8_t* factors);

}  // namespace axle::runtime
