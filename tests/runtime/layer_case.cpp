#include "tests/runtime/layer_case.h"

#include <cmath>
#include <limits>

namespace axle::runtime {
namespace {

float activation(Contents contents, std::size_t row, std::size_t i, std::mt19937& numbers) {
  std::normal_distribution<float> normal;
  const float value = normal(numbers);
  switch (contents) {
    case Contents::ordinary:
      return value;
    case Contents::extremes:
      return i % 3 == 0 ? 0.0F : (i % 2 == 0 ? 1.0F : -1.0F);
    case Contents::outliers:
      return i == row % 5 ? value * 100.0F : value;
    case Contents::tiny_and_huge: {
      static constexpr float sizes[] = {1e-38F, 1e-44F, 1e-25F, 1.0F, 1e20F, 0.0F};
      return value * sizes[row % 6];
    }
  }
  return 0;
}

}  // namespace

LayerCase make_case(std::size_t m, std::size_t n, std::size_t k, Contents contents,
                    std::uint32_t seed) {
  std::mt19937 numbers(seed);
  std::uniform_int_distribution<int> byte(-128, 127);
  std::uniform_real_distribution<float> unit(0.5F, 1.5F);
  LayerCase layer{m, n, k, {}, {}, {}, {}};
  for (std::size_t i = 0; i < n * k; ++i) {
    const int weight =
        contents == Contents::extremes ? (byte(numbers) < 0 ? -128 : 127) : byte(numbers);
    layer.weights.push_back(static_cast<std::int8_t>(weight));
  }
  for (std::size_t i = 0; i < n; ++i) layer.scales.push_back(unit(numbers) / 64.0F);
  if (seed % 2 == 0) {
    for (std::size_t i = 0; i < n; ++i) layer.bias.push_back(unit(numbers) - 1.0F);
  }
  for (std::size_t i = 0; i < m * k; ++i)
    layer.x.push_back(activation(contents, i / k, i % k, numbers));
  return layer;
}

std::vector<float> exact_result(const LayerCase& layer, axle_mode mode) {
  const float steps = mode == AXLE_A16W8 ? 32512.0F : 127.0F;
  std::vector<float> y;
  for (std::size_t r = 0; r < layer.m; ++r) {
    const float* const x = layer.x.data() + r * layer.k;
    float largest = 0;
    bool finite = true;
    for (std::size_t i = 0; i < layer.k; ++i) {
      finite = finite && std::isfinite(x[i]);
      largest = std::fmax(largest, std::fabs(x[i]));
    }
    const bool counts = finite && largest >= 0x1p-100F;
    const float inverse = counts ? steps / largest : 0;
    const float scale = !finite  ? std::numeric_limits<float>::quiet_NaN()
                        : counts ? largest / steps
                                 : 0;
    std::vector<std::int64_t> high(layer.k);
    std::vector<std::int64_t> low(layer.k);
    for (std::size_t i = 0; i < layer.k; ++i) {
      const float scaled = x[i] * inverse;
      const std::int64_t q = counts ? std::lrint(scaled) : 0;
      high[i] = mode == AXLE_A16W8
                    ? static_cast<std::int64_t>(std::floor(static_cast<double>(q + 128) / 256.0))
                    : q;
      low[i] = mode == AXLE_A16W8 ? q - 256 * high[i] : 0;
    }
    for (std::size_t c = 0; c < layer.n; ++c) {
      std::int64_t high_sum = 0;
      std::int64_t low_sum = 0;
      for (std::size_t i = 0; i < layer.k; ++i) {
        high_sum += high[i] * layer.weights[c * layer.k + i];
        low_sum += low[i] * layer.weights[c * layer.k + i];
      }
      // Each step rounded to float by itself: volatile keeps a compiler from fusing two of them.
      volatile float value = static_cast<float>(high_sum);
      if (mode == AXLE_A16W8) value = value * 256.0F + static_cast<float>(low_sum);
      const volatile float both_scales = scale * layer.scales[c];
      value = value * both_scales;
      if (!layer.bias.empty()) value = value + layer.bias[c];
      y.push_back(float{value});
    }
  }
  return y;
}

std::vector<double> real_result(const LayerCase& layer) {
  std::vector<double> y;
  for (std::size_t r = 0; r < layer.m; ++r) {
    for (std::size_t c = 0; c < layer.n; ++c) {
      double sum = 0;
      for (std::size_t i = 0; i < layer.k; ++i)
        sum += static_cast<double>(layer.x[r * layer.k + i]) * layer.weights[c * layer.k + i];
      sum *= static_cast<double>(layer.scales[c]);
      y.push_back(layer.bias.empty() ? sum : sum + static_cast<double>(layer.bias[c]));
    }
  }
  return y;
}

double relative_error(const std::vector<float>& a, const std::vector<double>& b) {
  double difference = 0;
  double size = 0;
  for (std::size_t i = 0; i < b.size(); ++i) {
    const double d = static_cast<double>(a[i]) - b[i];
    difference += d * d;
    size += b[i] * b[i];
  }
  return std::sqrt(difference / size);
}

}  // namespace axle::runtime
