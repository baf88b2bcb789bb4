// Float weights to int4 and float8: what is lost.

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <random>
#include <vector>

#include <doctest/doctest.h>

#include "runtime/quantize/float8.h"
#include "runtime/quantize/int4.h"

namespace axle::runtime {
namespace {

std::vector<float> gaussian(std::size_t count) {
  std::mt19937 numbers(7);
  std::normal_distribution<float> normal;
  std::vector<float> weights(count);
  for (float& weight : weights) weight = normal(numbers);
  return weights;
}

double relative_difference(const std::vector<float>& a, const std::vector<float>& b) {
  double difference = 0;
  double size = 0;
  for (std::size_t i = 0; i < b.size(); ++i) {
    const double d = static_cast<double>(a[i]) - static_cast<double>(b[i]);
    difference += d * d;
    size += static_cast<double>(b[i]) * static_cast<double>(b[i]);
  }
  return std::sqrt(difference / size);
}

/// What int4 with a scale a group makes of the weights.
std::vector<float> through_int4(const std::vector<float>& weights, std::size_t group,
                                axle_scaling scaling) {
  std::vector<float> result;
  for (std::size_t i = 0; i < weights.size(); i += group) {
    std::int8_t q[128];
    const std::size_t count = std::min(group, weights.size() - i);
    const float scale = int4_scale(scaling, weights.data() + i, count);
    quantise_to_int4(weights.data() + i, count, scale, q);
    for (std::size_t j = 0; j < count; ++j) result.push_back(scale * static_cast<float>(q[j]));
  }
  return result;
}

std::vector<float> through_two_levels(const std::vector<float>& weights, std::size_t channel) {
  std::vector<float> result;
  for (std::size_t c = 0; c < weights.size(); c += channel) {
    std::vector<std::uint8_t> factors((channel + 31) / 32);
    const float scale = two_level_scales(weights.data() + c, channel, factors.data());
    for (std::size_t i = 0; i < channel; i += 32) {
      std::int8_t q[32];
      const float own = scale * static_cast<float>(factors[i / 32]);
      quantise_to_int4(weights.data() + c + i, 32, own, q);
      for (const std::int8_t one : q) result.push_back(own * static_cast<float>(one));
    }
  }
  return result;
}

}  // namespace

TEST_CASE("int4 errors on Gaussian weights") {
  const std::vector<float> weights = gaussian(1 << 18);
  for (const std::size_t group : {32U, 64U, 128U})
    for (const axle_scaling scaling : {AXLE_ABSMAX, AXLE_MSE, AXLE_SEARCHED})
      MESSAGE(group, " ", scaling, " ",
              relative_difference(through_int4(weights, group, scaling), weights));
  MESSAGE("two ", relative_difference(through_two_levels(weights, 4096), weights));
}

}  // namespace axle::runtime
