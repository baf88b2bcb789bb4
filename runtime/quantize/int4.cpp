#include "runtime/quantize/int4.h"

#include "runtime/quantize/rounding.h"

namespace axle::runtime {
namespace {

constexpr float least_scale = 0x1p-100F;
constexpr int most_factor = 15;

float clamp_int4(float q) { return q > 7.0F ? 7.0F : q < -8.0F ? -8.0F : q; }

/// A reciprocal that is finite for every scale that is stored and not zero.
float nearest_int4(float weight, float scale) {
  const float ratio = weight / scale;
  // Far outside there is nothing to round, and round_to_even has its bounds.
  if (ratio > 8.0F) return 7.0F;
  if (ratio < -9.0F) return -8.0F;
  return clamp_int4(round_to_even(ratio));
}

double squared_error(const float* weights, std::size_t count, float scale) {
  double sum = 0;
  for (std::size_t i = 0; i < count; ++i) {
    const double difference =
        static_cast<double>(weights[i]) -
        static_cast<double>(scale) * static_cast<double>(nearest_int4(weights[i], scale));
    sum += difference * difference;
  }
  return sum;
}

/// The best of `points` scales from `first` on, each `step` further.
float best_scale(const float* weights, std::size_t count, float first, float step, int points) {
  float best = 0;
  double least = 0;
  for (int i = 0; i < points; ++i) {
    const float scale = stored_int4_scale(first + step * static_cast<float>(i));
    if (scale == 0) continue;
    const double error = squared_error(weights, count, scale);
    if (best == 0 || error < least) {
      best = scale;
      least = error;
    }
  }
  return best;
}

/// `scale`, or the one that fits the weights' q best where that has the lesser error.
float refined_scale(const float* weights, std::size_t count, float scale) {
  if (scale == 0) return scale;
  double weight_sum = 0;
  double square_sum = 0;
  for (std::size_t i = 0; i < count; ++i) {
    const double q = static_cast<double>(nearest_int4(weights[i], scale));
    weight_sum += q * static_cast<double>(weights[i]);
    square_sum += q * q;
  }
  if (square_sum == 0) return scale;
  const float fitted = stored_int4_scale(static_cast<float>(weight_sum / square_sum));
  return fitted != 0 && squared_error(weights, count, fitted) < squared_error(weights, count, scale)
             ? fitted
             : scale;
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
  int best = 0;
  double least = 0;
  for (int factor = middle - 1; factor <= middle + 1; ++factor) {
    if (factor < 1 || factor > most_factor) continue;
    const double error = squared_error(weights, count, channel_scale * static_cast<float>(factor));
    if (best == 0 || error < least) {
      best = factor;
      least = error;
    }
  }
  return static_cast<std::uint8_t>(best == 0 ? 1 : best);
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
  for (std::size_t i = 0; i < count; ++i)
    q[i] = scale == 0 ? std::int8_t{0} : static_cast<std::int8_t>(nearest_int4(weights[i], scale));
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
