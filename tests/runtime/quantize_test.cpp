// Float weights to int4 and float8: what is lost.

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <random>
#include <vector>

#include <doctest/doctest.h>

#include "runtime/quantize/float8.h"
#include "runtime/quantize/int4.h"
#include "runtime/quantize/int8.h"

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

/// What is lost by a scale, one weight after the other.
double plain_error(const float* weights, std::size_t count, float scale) {
  double sum = 0;
  for (std::size_t i = 0; i < count; ++i) {
    const float q = std::clamp(std::nearbyintf(weights[i] / scale), -8.0F, 7.0F);
    const double difference =
        static_cast<double>(weights[i]) - static_cast<double>(scale) * static_cast<double>(q);
    sum += difference * difference;
  }
  return sum;
}

/// Every scale of the search tried in order.
float plain_search(const float* weights, std::size_t count, float first, float step, int points) {
  float best = 0;
  double least = 0;
  for (int i = 0; i < points; ++i) {
    const float scale = stored_int4_scale(first + step * static_cast<float>(i));
    if (scale == 0) continue;
    const double error = plain_error(weights, count, scale);
    if (best != 0 && error >= least) continue;
    best = scale;
    least = error;
  }
  return best;
}

float plain_refined(const float* weights, std::size_t count, float scale) {
  double weight_sum = 0;
  double square_sum = 0;
  for (std::size_t i = 0; i < count; ++i) {
    const double q =
        static_cast<double>(std::clamp(std::nearbyintf(weights[i] / scale), -8.0F, 7.0F));
    weight_sum += q * static_cast<double>(weights[i]);
    square_sum += q * q;
  }
  if (square_sum == 0) return scale;
  const float fitted = stored_int4_scale(static_cast<float>(weight_sum / square_sum));
  const bool better =
      fitted != 0 && plain_error(weights, count, fitted) < plain_error(weights, count, scale);
  return better ? fitted : scale;
}

}  // namespace

TEST_CASE("the fast search chooses what trying every scale in order chooses") {
  std::vector<float> weights = gaussian(1 << 15);
  for (std::size_t i = 0; i < 1 << 13; ++i) {  // from a grid: many errors are equal
    weights[i] = std::nearbyintf(weights[i] * 3) / 4;
    weights[(1 << 13) + i] *= i % 256 < 128 ? 0x1p-60F : 0x1p60F;
  }
  for (const std::size_t group :
       {std::size_t{3}, std::size_t{32}, std::size_t{37}, std::size_t{64}, std::size_t{128}}) {
    for (std::size_t i = 0; i + group <= weights.size(); i += group) {
      const float* const own = weights.data() + i;
      float end = 0;
      for (std::size_t j = 0; j < group; ++j)
        end = std::fabs(own[j]) > std::fabs(end) ? own[j] : end;
      const float most = std::fabs(end);
      end /= -8.0F;
      const float found = plain_search(own, group, end * 0.75F, end * 0.0625F, 9);
      REQUIRE(int4_scale(AXLE_SEARCHED, own, group) ==
              (found == 0 ? 0 : plain_refined(own, group, found)));
      REQUIRE(int4_scale(AXLE_MSE, own, group) ==
              plain_search(own, group, most / 7.0F, most / -280.0F, 20));
    }
  }
}

TEST_CASE("int8: to the nearest of exact quotients, ties to even, never beyond 127") {
  const float weights[] = {0.5F, -0.5F, 1.5F, 2.5F, -2.5F, 126.5F, 127.4F, 128.0F, -300.0F, 0};
  std::int8_t q[10];
  quantise_to_int8(weights, 10, 1.0F, q);
  const std::int8_t expected[] = {0, 0, 2, 2, -2, 126, 127, 127, -127, 0};
  CHECK(std::equal(q, q + 10, expected));
  quantise_to_int8(weights, 10, 0.0F, q);
  CHECK(std::count(q, q + 10, 0) == 10);
  const std::vector<float> numbers = gaussian(4099);
  std::vector<std::int8_t> many(numbers.size());
  quantise_to_int8(numbers.data(), numbers.size(), 0.031F, many.data());
  for (std::size_t i = 0; i < numbers.size(); ++i) {
    const double ratio = static_cast<double>(numbers[i]) / static_cast<double>(0.031F);
    REQUIRE(many[i] == std::clamp(std::nearbyint(ratio), -127.0, 127.0));
  }
}

TEST_CASE("int4 errors on Gaussian weights stay below their caps") {
  const std::vector<float> weights = gaussian(1 << 18);
  struct Cap {
    std::size_t group;
    axle_scaling scaling;
    double most;
  };
  // q4_0 (groups of 32, a scale of 16 bits) loses 8.7e-2 on the same; no quantiser of 16 even steps
  // can lose less than 9.5e-2 over groups as large as 128.
  for (const Cap& cap :
       {Cap{32, AXLE_ABSMAX, 9.8e-2}, Cap{64, AXLE_ABSMAX, 1.09e-1}, Cap{128, AXLE_ABSMAX, 1.2e-1},
        Cap{32, AXLE_MSE, 8.7e-2}, Cap{64, AXLE_MSE, 9.6e-2}, Cap{128, AXLE_MSE, 1.03e-1},
        Cap{32, AXLE_SEARCHED, 8.2e-2}, Cap{64, AXLE_SEARCHED, 9.1e-2},
        Cap{128, AXLE_SEARCHED, 9.8e-2}}) {
    CAPTURE(cap.group);
    CAPTURE(cap.scaling);
    CHECK(relative_difference(through_int4(weights, cap.group, cap.scaling), weights) < cap.most);
  }
  CHECK(relative_difference(through_two_levels(weights, 4096), weights) < 9e-2);
}

TEST_CASE("int4: what needs no rounding is kept, and nothing is too small, too large or zero") {
  for (const axle_scaling scaling : {AXLE_ABSMAX, AXLE_MSE, AXLE_SEARCHED}) {
    std::int8_t q[4];
    const float zeros[4] = {};
    CHECK(int4_scale(scaling, zeros, 4) == 0.0F);
    quantise_to_int4(zeros, 4, 0.0F, q);
    CHECK(q[3] == 0);
    const float tiny[] = {1e-38F, -1e-40F, 0, 1e-39F};
    CHECK(int4_scale(scaling, tiny, 4) == 0.0F);
    const float huge[] = {3e38F, -3e38F, 1.0F, 2e38F};
    const float scale = int4_scale(scaling, huge, 4);
    CHECK(std::isfinite(scale));
    quantise_to_int4(huge, 4, scale, q);
    CHECK(std::abs(q[0]) >= 5);
    CHECK(q[2] == 0);
  }
  const float exact[] = {-8.0F, 7.0F, 1.0F, -3.0F};
  CHECK(int4_scale(AXLE_SEARCHED, exact, 4) == 1.0F);
  const float mirrored[] = {8.0F, -7.0F, -1.0F, 3.0F};
  CHECK(int4_scale(AXLE_SEARCHED, mirrored, 4) == -1.0F);
  std::uint8_t factors[2];
  const std::vector<float> nothing(40);
  CHECK(two_level_scales(nothing.data(), 40, factors) == 0.0F);
  CHECK(factors[0] == 1);
  CHECK(factors[1] == 1);
}

TEST_CASE("float8: every value survives, between two the nearer is taken, ties to even") {
  for (int bits = 0; bits < 256; ++bits) {
    const std::uint8_t byte = static_cast<std::uint8_t>(bits);
    if (is_nan_float8(byte)) {
      CHECK(std::isnan(float_from_float8(byte)));
      continue;
    }
    CAPTURE(bits);
    const float value = float_from_float8(byte);
    CHECK(to_float8(value) == byte);
    const int magnitude = bits & 0x7f;
    if (magnitude == 0x7e) continue;
    const float next = float_from_float8(static_cast<std::uint8_t>(bits + 1));
    const float middle = (value + next) / 2;
    const std::uint8_t even = static_cast<std::uint8_t>(bits + (bits & 1));
    CHECK(to_float8(middle) == even);
    CHECK(to_float8(std::nextafter(middle, next)) == bits + 1);
    CHECK(to_float8(std::nextafter(middle, value)) == bits);
  }
  CHECK(float_from_float8(0x7e) == 448.0F);
  CHECK(float_from_float8(0x01) == 0x1p-9F);
  CHECK(to_float8(1e30F) == 0x7e);
  CHECK(to_float8(-465.0F) == 0xfe);
}

TEST_CASE("float8 loses 2.7e-2 of Gaussian weights") {
  const std::vector<float> weights = gaussian(1 << 16);
  std::vector<float> back;
  for (const float weight : weights)
    back.push_back(float_from_float8(to_float8(weight * 100)) / 100);
  CHECK(relative_difference(back, weights) < 2.8e-2);
}

}  // namespace axle::runtime
