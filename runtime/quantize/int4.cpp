#include "runtime/quantize/int4.h"

#include <cstring>

#include "runtime/quantize/rounding.h"

namespace axle::runtime {
namespace {

constexpr float least_scale = 0x1p-100F;
constexpr int most_factor = 15;
constexpr std::size_t most_points = 20;
constexpr std::size_t largest_group = 128;
constexpr float whole_from = 12582912.0F;  ///< as round_to_even has it

/// Four scales are tried at once. Only operations that every machine rounds alike, and each sum in
/// the order of the weights: what is chosen is what trying one after the other would choose.
constexpr std::size_t together = 4;
using Floats [[gnu::vector_size(together * sizeof(float))]] = float;
using Doubles [[gnu::vector_size(16)]] = double;

/// Lanes 0 and 1, 2 and 3.
Doubles lower(const Floats& v) {
  return __builtin_convertvector(__builtin_shufflevector(v, v, 0, 1), Doubles);
}
Doubles upper(const Floats& v) {
  return __builtin_convertvector(__builtin_shufflevector(v, v, 2, 3), Doubles);
}

/// To the nearest whole number in [-8, 7], ties to even.
Floats round_clamped(const Floats& ratio) {
  const Floats not_above = ratio > 7.0F ? Floats{} + 7.0F : ratio;
  const Floats clamped = not_above < -8.0F ? Floats{} - 8.0F : not_above;
  return (clamped + whole_from) - whole_from;
}

/// Calls take(q, weights, i, own) for weights [i, i + own), four at a time and then what is left.
template <class Take>
void for_each_q(const float* weights, std::size_t count, float scale, Take take) {
  Floats weight;
  Floats q;
  std::size_t i = 0;
  for (; i + together <= count; i += together) {
    std::memcpy(&weight, weights + i, sizeof weight);
    q = round_clamped(weight / (Floats{} + scale));
    take(q, weight, i, together);
  }
  if (i == count) return;
  weight = Floats{};
  std::memcpy(&weight, weights + i, (count - i) * sizeof(float));
  q = round_clamped(weight / (Floats{} + scale));
  take(q, weight, i, count - i);
}

/// The squared error that each of some scales, none of them zero, leaves.
void squared_errors(const float* weights, std::size_t count, const float* scales, double* errors) {
  Floats scale;
  std::memcpy(&scale, scales, sizeof scale);
  const Doubles scale_pairs[] = {lower(scale), upper(scale)};
  Doubles sums[2] = {};
  for (std::size_t i = 0; i < count; ++i) {
    const Floats q = round_clamped((Floats{} + weights[i]) / scale);
    const Doubles weight = Doubles{} + static_cast<double>(weights[i]);
    const Doubles low = weight - scale_pairs[0] * lower(q);
    const Doubles high = weight - scale_pairs[1] * upper(q);
    sums[0] += low * low;
    sums[1] += high * high;
  }
  std::memcpy(errors, sums, sizeof sums);
}

/// The first of the scales with the least error; those of zero are left out. 0: all are.
float best_of(const float* weights, std::size_t count, const float* scales, std::size_t points) {
  float best = 0;
  double least = 0;
  for (std::size_t first = 0; first < points; first += together) {
    float tried[together];
    double errors[together];
    const std::size_t own = points - first < together ? points - first : together;
    for (std::size_t i = 0; i < together; ++i) {
      const float scale = i < own ? scales[first + i] : 0.0F;
      tried[i] = scale == 0 ? 1.0F : scale;
    }
    squared_errors(weights, count, tried, errors);
    for (std::size_t i = 0; i < own; ++i) {
      if (scales[first + i] == 0 || (best != 0 && errors[i] >= least)) continue;
      best = scales[first + i];
      least = errors[i];
    }
  }
  return best;
}

/// A squared error as float arithmetic finds it, and more than it can be wrong by: a ratio is off
/// by 2^-20 at most, so that a weight's difference is off by scale * 2^-19, and sums of up to 128
/// squares by 2^-18 of themselves.
struct RoughError {
  float error;
  float doubt;
};

RoughError rough_error(const float* weights, std::size_t count, float scale) {
  const Floats inverse = Floats{} + 1.0F / scale;
  const Floats spread = Floats{} + scale;
  Floats sum{};
  for (std::size_t i = 0; i < count; i += together) {
    Floats weight{};
    std::memcpy(&weight, weights + i, sizeof weight);
    const Floats difference = weight - spread * round_clamped(weight * inverse);
    sum += difference * difference;
  }
  const float error = sum[0] + sum[1] + sum[2] + sum[3];
  return {error, (static_cast<float>(count) * scale * scale + error) * 0x1p-16F};
}

/// Where rough errors hold: nothing overflows or vanishes, and groups are whole.
bool may_be_rough(const float* weights, std::size_t count) {
  const float most = largest_magnitude_of(weights, count);
  return count <= largest_group && count % together == 0 && most > 0x1p-40F && most < 0x1p40F;
}

/// As best_of, by rough errors; a scale of 0 where they leave doubt.
float clearly_best(const float* weights, std::size_t count, const float* scales,
                   std::size_t points) {
  RoughError errors[most_points];
  std::size_t best = 0;
  for (std::size_t i = 0; i < points; ++i) {
    if (scales[i] == 0) return 0;
    errors[i] = rough_error(weights, count, scales[i]);
    if (errors[i].error < errors[best].error) best = i;
  }
  for (std::size_t i = 0; i < points; ++i) {
    if (i != best && errors[i].error - errors[best].error <= errors[i].doubt + errors[best].doubt)
      return 0;
  }
  return scales[best];
}

/// The first of the scales with the least error; 0: none but zeros.
float best_scale_of(const float* weights, std::size_t count, const float* scales,
                    std::size_t points) {
  const float clear =
      may_be_rough(weights, count) ? clearly_best(weights, count, scales, points) : 0;
  return clear != 0 ? clear : best_of(weights, count, scales, points);
}

/// The best of `points` scales from `first` on, each `step` further.
float best_scale(const float* weights, std::size_t count, float first, float step,
                 std::size_t points) {
  float scales[most_points];
  for (std::size_t i = 0; i < points; ++i)
    scales[i] = stored_int4_scale(first + step * static_cast<float>(i));
  return best_scale_of(weights, count, scales, points);
}

/// `scale`, or the one that fits the weights' q best where that has the lesser error.
float refined_scale(const float* weights, std::size_t count, float scale) {
  if (scale == 0) return scale;
  double weight_sum = 0;
  double square_sum = 0;
  for_each_q(weights, count, scale,
             [&](const Floats& q, const Floats& weight, std::size_t, std::size_t) {
               const Doubles products[] = {lower(q) * lower(weight), upper(q) * upper(weight)};
               const Doubles squares = lower(q) * lower(q) + upper(q) * upper(q);
               // Zeros behind the last weight add nothing; sums of squares are exact.
               weight_sum += products[0][0];
               weight_sum += products[0][1];
               weight_sum += products[1][0];
               weight_sum += products[1][1];
               square_sum += squares[0] + squares[1];
             });
  if (square_sum == 0) return scale;
  const float both[] = {scale, stored_int4_scale(static_cast<float>(weight_sum / square_sum))};
  return both[1] == 0 || both[1] == scale ? scale : best_scale_of(weights, count, both, 2);
}

/// The weight of the largest magnitude, with its sign.
float extreme(const float* weights, std::size_t count) {
  const float most = largest_magnitude_of(weights, count);
  for (std::size_t i = 0; i < count; ++i) {
    if (weights[i] == most || weights[i] == -most) return weights[i];
  }
  return 0;
}

/// The factor whose scale has the least error, among the nearest to the wanted scale.
std::uint8_t best_factor(const float* weights, std::size_t count, float channel_scale,
                         float wanted) {
  const int middle = static_cast<int>(round_to_even(wanted / channel_scale));
  float scales[3] = {};
  for (int i = 0; i < 3; ++i) {
    const int factor = middle - 1 + i;
    if (factor >= 1 && factor <= most_factor)
      scales[i] = channel_scale * static_cast<float>(factor);
  }
  const float best = best_scale_of(weights, count, scales, 3);
  for (int i = 0; i < 3; ++i) {
    if (best != 0 && scales[i] == best) return static_cast<std::uint8_t>(middle - 1 + i);
  }
  return 1;
}

/// Where a group's scale should lie when only its own weights count, and it must be positive.
float wanted_scale(const float* weights, std::size_t count) {
  const float most = largest_magnitude_of(weights, count);
  return refined_scale(weights, count, best_scale(weights, count, most / 9.0F, most / 120.0F, 9));
}

}  // namespace

float stored_int4_scale(float scale) {
  const float stored = round_to_bfloat16(scale);
  return stored < least_scale && stored > -least_scale ? 0 : stored;
}

float int4_scale(axle_scaling scaling, const float* weights, std::size_t count) {
  const float most = largest_magnitude_of(weights, count);
  switch (scaling) {
    case AXLE_ABSMAX:
      return stored_int4_scale(most / 7.0F);
    case AXLE_MSE:
      return best_scale(weights, count, most / 7.0F, most / -280.0F, 20);
    default: {
      // The extreme one on -8, which has no counterpart on the other side; then around it.
      const float end = extreme(weights, count) / -8.0F;
      return refined_scale(weights, count,
                           best_scale(weights, count, end * 0.75F, end * 0.0625F, 9));
    }
  }
}

void quantise_to_int4(const float* weights, std::size_t count, float scale, std::int8_t* q) {
  if (scale == 0) {
    std::memset(q, 0, count);
    return;
  }
  using Integers [[gnu::vector_size(together * sizeof(std::int32_t))]] = std::int32_t;
  for_each_q(weights, count, scale,
             [&](const Floats& nearest, const Floats&, std::size_t i, std::size_t own) {
               const Integers whole = __builtin_convertvector(nearest, Integers);
               for (std::size_t j = 0; j < own; ++j) q[i + j] = static_cast<std::int8_t>(whole[j]);
             });
}

float two_level_scales(const float* weights, std::size_t count, std::uint8_t* factors) {
  float most = 0;
  for (std::size_t i = 0; i < count; i += two_level_group) {
    const std::size_t left = count - i < two_level_group ? count - i : two_level_group;
    const float wanted = wanted_scale(weights + i, left);
    if (wanted > most) most = wanted;
  }
  const float scale = most / static_cast<float>(most_factor);
  for (std::size_t i = 0; i < count; i += two_level_group) {
    const std::size_t left = count - i < two_level_group ? count - i : two_level_group;
    factors[i / two_level_group] =
        most == 0 ? std::uint8_t{1}
                  : best_factor(weights + i, left, scale, wanted_scale(weights + i, left));
  }
  return scale;
}

}  // namespace axle::runtime
