#include "runtime/model/quantization/scheme.h"

#include "runtime/kernel.h"
#include "runtime/quantize/float8.h"
#include "runtime/quantize/int4.h"
#include "runtime/quantize/int8.h"

namespace axle::runtime {
namespace {

constexpr MethodRow methods[] = {{ScaleMethod::absmax, "absmax"},
                                 {ScaleMethod::mse, "mse"},
                                 {ScaleMethod::search, "search"},
                                 {ScaleMethod::awq, "awq"}};

axle_scaling scaling_of(ScaleMethod method) {
  if (method == ScaleMethod::absmax) return AXLE_ABSMAX;
  return method == ScaleMethod::mse ? AXLE_MSE : AXLE_SEARCHED;
}

double weighted_error(const float* weights, const float* importance, std::size_t count,
                      float scale) {
  std::int8_t q[largest_group];
  quantise_to_int4(weights, count, scale, q);
  float sum = 0;
  for (std::size_t i = 0; i < count; ++i) {
    const float difference = weights[i] - scale * static_cast<float>(q[i]);
    sum += difference * difference * importance[i];
  }
  return static_cast<double>(sum);
}

/// The scale that fits the values of `scale` best.
float fitted_scale(const float* weights, const float* importance, std::size_t count, float scale) {
  std::int8_t q[largest_group];
  quantise_to_int4(weights, count, scale, q);
  double weight_sum = 0;
  double square_sum = 0;
  for (std::size_t i = 0; i < count; ++i) {
    const double own = static_cast<double>(q[i]) * static_cast<double>(importance[i]);
    weight_sum += own * static_cast<double>(weights[i]);
    square_sum += own * static_cast<double>(q[i]);
  }
  return square_sum > 0 ? stored_int4_scale(static_cast<float>(weight_sum / square_sum)) : scale;
}

}  // namespace

std::span<const MethodRow> scale_methods() { return methods; }

const char* name_of(ScaleMethod method) { return methods[static_cast<std::size_t>(method)].name; }

/// From what packing takes, in steps of a sixteenth of the scale that clips nothing, down to half
/// of that: clipping what matters little to make the rest finer.
float QuantizationScheme::group_scale(const float* group, const float* importance,
                                      std::size_t count) const {
  float best = int4_scale(scaling_of(method_), group, count);
  if (method_ != ScaleMethod::awq || importance == nullptr || best == 0) return best;
  double least = weighted_error(group, importance, count, best);
  const auto consider = [&](float scale) {
    if (scale == 0) return;
    const double error = weighted_error(group, importance, count, scale);
    if (error < least) {
      least = error;
      best = scale;
    }
  };
  const float most = largest_magnitude_of(group, count) / 8.0F * (best < 0 ? -1.0F : 1.0F);
  for (int i = 0; i < 11; ++i)
    consider(stored_int4_scale(most * (0.5F + 0.0625F * static_cast<float>(i))));
  consider(fitted_scale(group, importance, count, best));
  return best;
}

void QuantizationScheme::quantise_int4(const float* row, const float* importance,
                                       std::size_t columns, std::uint8_t* values,
                                       float* scales) const {
  for (std::size_t first = 0; first < columns; first += mode_.group) {
    const std::size_t count = columns - first < mode_.group ? columns - first : mode_.group;
    const float scale =
        group_scale(row + first, importance == nullptr ? nullptr : importance + first, count);
    scales[first / mode_.group] = scale;
    std::int8_t q[largest_group];
    quantise_to_int4(row + first, count, scale, q);
    for (std::size_t i = 0; i < count; i += 2)
      values[(first + i) / 2] =
          static_cast<std::uint8_t>((q[i] + 8) | static_cast<unsigned>(q[i + 1] + 8) << 4U);
  }
}

void QuantizationScheme::quantise(const float* row, const float* importance, std::size_t columns,
                                  std::uint8_t* values, float* scales) const {
  if (mode_.group != 0) return quantise_int4(row, importance, columns, values, scales);
  const bool float8 = mode_.linear == AXLE_A32F8;
  const float scale =
      float8 ? largest_magnitude_of(row, columns) / largest_float8 : int8_scale(row, columns);
  *scales = scale;
  for (std::size_t i = 0; i < columns; ++i) {
    if (float8) {
      values[i] = scale == 0 ? std::uint8_t{0} : to_float8(row[i] / scale);
    } else {
      values[i] = static_cast<std::uint8_t>(quantise_to_int8(row[i], scale));
    }
  }
}

void QuantizationScheme::dequantise(const std::uint8_t* values, const float* scales,
                                    std::size_t columns, float* row) const {
  for (std::size_t i = 0; i < columns; ++i) {
    if (mode_.group != 0) {
      const unsigned both = values[i / 2];
      const int q = static_cast<int>(i % 2 == 0 ? both & 0xfU : both >> 4U) - 8;
      row[i] = static_cast<float>(q) * scales[i / mode_.group];
    } else if (mode_.linear == AXLE_A32F8) {
      row[i] = float_from_float8(values[i]) * *scales;
    } else {
      row[i] = static_cast<float>(static_cast<std::int8_t>(values[i])) * *scales;
    }
  }
}

}  // namespace axle::runtime
