#include "tests/runtime/narrow_case.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>

#include "runtime/half.h"

namespace axle::runtime {
namespace {

bool is_float8(const NarrowCase& layer) { return layer.form.mode == AXLE_A16F8; }
bool is_two_level(const NarrowCase& layer) { return layer.form.scaling == AXLE_TWO_LEVEL; }

std::size_t group_count(const NarrowCase& layer) {
  return (layer.k + layer.form.group - 1) / layer.form.group;
}

double decoded_float8(std::uint8_t bits) {
  const int exponent = (bits >> 3) & 15;
  const int fraction = bits & 7;
  const double magnitude =
      exponent == 0 ? std::ldexp(fraction, -9) : std::ldexp(8 + fraction, exponent - 10);
  return (bits & 0x80) != 0 ? -magnitude : magnitude;
}

double float8_value(std::uint8_t bits) {
  static const std::vector<double> values = [] {
    std::vector<double> all;
    for (int i = 0; i < 256; ++i) all.push_back(decoded_float8(static_cast<std::uint8_t>(i)));
    return all;
  }();
  return values[bits];
}

std::int64_t integer_weight(const NarrowCase& layer, std::size_t channel, std::size_t i) {
  const std::int8_t q = static_cast<std::int8_t>(layer.weights[channel * layer.k + i]);
  if (!is_two_level(layer)) return q;
  return std::int64_t{q} * layer.factors[channel * group_count(layer) + i / 32];
}

/// A row of x as integers, and what one of them stands for.
struct IntegerRow {
  std::vector<std::int64_t> q;
  float scale = 0;
};

IntegerRow integer_row(const NarrowCase& layer, std::size_t r) {
  const float steps = layer.form.mode == AXLE_A16W4 ? 32512.0F : 127.0F;
  const float* const x = layer.x.data() + r * layer.k;
  float largest = 0;
  bool finite = true;
  for (std::size_t i = 0; i < layer.k; ++i) {
    finite = finite && std::isfinite(x[i]);
    largest = std::fmax(largest, std::fabs(x[i]));
  }
  const bool counts = finite && largest >= 0x1p-100F;
  IntegerRow row;
  for (std::size_t i = 0; i < layer.k; ++i) {
    const float scaled = counts ? x[i] * (steps / largest) : 0;
    row.q.push_back(std::lrint(scaled));
  }
  row.scale = !finite ? std::numeric_limits<float>::quiet_NaN() : counts ? largest / steps : 0;
  return row;
}

// In what follows each step is rounded to float by itself: volatile keeps a compiler from fusing
// two of them.

float exact_two_level(const NarrowCase& layer, const IntegerRow& row, std::size_t c) {
  std::int64_t high_sum = 0;
  std::int64_t low_sum = 0;
  for (std::size_t i = 0; i < layer.k; ++i) {
    const std::int64_t high =
        layer.form.mode == AXLE_A16W4
            ? static_cast<std::int64_t>(std::floor(static_cast<double>(row.q[i] + 128) / 256.0))
            : row.q[i];
    high_sum += high * integer_weight(layer, c, i);
    low_sum += (row.q[i] - 256 * high) * integer_weight(layer, c, i);
  }
  volatile float value = static_cast<float>(high_sum);
  if (layer.form.mode == AXLE_A16W4) value = value * 256.0F + static_cast<float>(low_sum);
  const volatile float both_scales = row.scale * layer.scales[c];
  return value * both_scales;
}

float exact_int4(const NarrowCase& layer, const IntegerRow& row, std::size_t c) {
  volatile float value = 0;
  for (std::size_t g = 0; g < group_count(layer); ++g) {
    std::int64_t sum = 0;
    const std::size_t end = std::min(layer.k, (g + 1) * layer.form.group);
    for (std::size_t i = g * layer.form.group; i < end; ++i)
      sum += row.q[i] * integer_weight(layer, c, i);
    const volatile float term = static_cast<float>(sum) * layer.scales[c * group_count(layer) + g];
    value = value + term;
  }
  return value * row.scale;
}

/// A row of x for float8 weights, as bfloat16 of x / scale.
struct BfloatRow {
  std::vector<float> values;
  float scale = 0;
};

BfloatRow bfloat_row(const NarrowCase& layer, std::size_t r) {
  const float* const x = layer.x.data() + r * layer.k;
  float largest = 0;
  for (std::size_t i = 0; i < layer.k; ++i)
    largest = std::isfinite(x[i]) && std::isfinite(largest)
                  ? std::fmax(largest, std::fabs(x[i]))
                  : std::numeric_limits<float>::infinity();
  const bool counts = std::isfinite(largest) && largest >= 0x1p-100F;
  const int exponent = counts ? std::ilogb(largest) : 0;
  BfloatRow row{{},
                std::isfinite(largest) ? std::ldexp(1.0F, exponent)
                                       : std::numeric_limits<float>::quiet_NaN()};
  for (std::size_t i = 0; i < layer.k; ++i) {
    const float value = counts ? float_from_bfloat16(bfloat16_from_float(static_cast<float>(
                                     std::ldexp(static_cast<double>(x[i]), -exponent))))
                               : 0;
    row.values.push_back(std::fabs(value) < 0x1p-100F ? 0 : value);
  }
  return row;
}

float exact_float8(const NarrowCase& layer, const BfloatRow& row, std::size_t c) {
  volatile float value = 0;
  for (std::size_t from = 0; from < layer.k; from += 32) {
    volatile float sums[2] = {0, 0};
    for (std::size_t i = from; i < std::min(layer.k, from + 32); ++i) {
      const volatile float term =
          row.values[i] * static_cast<float>(float8_value(layer.weights[c * layer.k + i]));
      sums[i % 2] = sums[i % 2] + term;
    }
    const volatile float both = sums[0] + sums[1];
    value = value + both;
  }
  const volatile float both_scales = row.scale * layer.scales[c];
  return value * both_scales;
}

}  // namespace

const std::vector<NarrowForm>& narrow_forms() {
  static const std::vector<NarrowForm> forms{{AXLE_DA8W4, 32, 0},
                                             {AXLE_DA8W4, 64, 0},
                                             {AXLE_DA8W4, 128, 0},
                                             {AXLE_A16W4, 32, 0},
                                             {AXLE_A16W4, 64, 0},
                                             {AXLE_A16W4, 128, 0},
                                             {AXLE_DA8W4, 32, AXLE_TWO_LEVEL},
                                             {AXLE_A16W4, 32, AXLE_TWO_LEVEL},
                                             {AXLE_A16F8, 0, 0}};
  return forms;
}

std::string name_of(const NarrowForm& form) {
  const std::string mode = form.mode == AXLE_A16F8   ? "a16f8"
                           : form.mode == AXLE_A16W4 ? "a16w4"
                                                     : "da8w4";
  return mode + " group " + std::to_string(form.group) +
         (form.scaling == AXLE_TWO_LEVEL ? " two levels" : "");
}

NarrowCase make_narrow_case(const NarrowForm& form, std::size_t m, std::size_t n, std::size_t k,
                            Contents contents, std::uint32_t seed) {
  const LayerCase wide = make_case(m, n, k, contents, seed);
  NarrowCase layer{form, m, n, k, {}, {}, {}, wide.bias, wide.x};
  std::mt19937 numbers(seed + 1);
  std::uniform_int_distribution<int> factor(1, 15);
  std::normal_distribution<float> normal;
  for (const std::int8_t weight : wide.weights) {
    const int small = contents == Contents::extremes ? (weight < 0 ? -8 : 7) : weight >> 4;
    const std::uint8_t byte = static_cast<std::uint8_t>(weight);
    layer.weights.push_back(form.mode == AXLE_A16F8 ? (byte & 0x7f) == 0x7f ? 0 : byte
                                                    : static_cast<std::uint8_t>(small));
  }
  const std::size_t groups = form.mode == AXLE_A16F8 ? 1 : (k + form.group - 1) / form.group;
  const bool int4 = form.mode != AXLE_A16F8 && form.scaling != AXLE_TWO_LEVEL;
  for (std::size_t i = 0; i < n * (int4 ? groups : 1); ++i) {
    float scale = normal(numbers) / 16.0F;
    if (int4) {
      // As bfloat16 has it, so that nothing is rounded.
      std::uint32_t bits = 0;
      std::memcpy(&bits, &scale, 4);
      bits &= 0xffff0000U;
      std::memcpy(&scale, &bits, 4);
    }
    layer.scales.push_back(scale);
  }
  for (std::size_t i = 0; form.scaling == AXLE_TWO_LEVEL && i < n * groups; ++i)
    layer.factors.push_back(
        static_cast<std::uint8_t>(contents == Contents::extremes ? 15 : factor(numbers)));
  return layer;
}

axle_linear_options options_of(const NarrowCase& layer) {
  return {.struct_size = sizeof(axle_linear_options),
          .mode = layer.form.mode,
          .weight_type = is_float8(layer) ? AXLE_FLOAT8 : AXLE_INT8,
          .n = layer.n,
          .k = layer.k,
          .weights = layer.weights.data(),
          .scales = layer.scales.data(),
          .bias = layer.bias.empty() ? nullptr : layer.bias.data(),
          .group = layer.form.group,
          .scaling = layer.form.scaling,
          .reserved = 0,
          .factors = layer.factors.empty() ? nullptr : layer.factors.data(),
          .device = nullptr};
}

std::vector<float> exact_result(const NarrowCase& layer) {
  std::vector<float> y;
  for (std::size_t r = 0; r < layer.m; ++r) {
    const IntegerRow row = integer_row(layer, r);
    const BfloatRow floats = bfloat_row(layer, r);
    for (std::size_t c = 0; c < layer.n; ++c) {
      volatile float value = is_float8(layer)      ? exact_float8(layer, floats, c)
                             : is_two_level(layer) ? exact_two_level(layer, row, c)
                                                   : exact_int4(layer, row, c);
      if (!layer.bias.empty()) value = value + layer.bias[c];
      y.push_back(float{value});
    }
  }
  return y;
}

double weight_of(const NarrowCase& layer, std::size_t channel, std::size_t i) {
  if (is_float8(layer))
    return float8_value(layer.weights[channel * layer.k + i]) *
           static_cast<double>(layer.scales[channel]);
  const std::size_t scale =
      is_two_level(layer) ? channel : channel * group_count(layer) + i / layer.form.group;
  return static_cast<double>(integer_weight(layer, channel, i)) *
         static_cast<double>(layer.scales[scale]);
}

std::vector<double> dequantised_result(const NarrowCase& layer) {
  std::vector<double> y;
  for (std::size_t r = 0; r < layer.m; ++r) {
    const IntegerRow row = integer_row(layer, r);
    const BfloatRow floats = bfloat_row(layer, r);
    for (std::size_t c = 0; c < layer.n; ++c) {
      double sum = layer.bias.empty() ? 0 : static_cast<double>(layer.bias[c]);
      for (std::size_t i = 0; i < layer.k; ++i) {
        const double x =
            is_float8(layer)
                ? static_cast<double>(floats.values[i]) * static_cast<double>(floats.scale)
                : static_cast<double>(row.q[i]) * static_cast<double>(row.scale);
        sum += x * weight_of(layer, c, i);
      }
      y.push_back(sum);
    }
  }
  return y;
}

}  // namespace axle::runtime
