// Packing of 4-bit and float8 weights, as runtime/kernel.h says that they lie.

#include <cstring>

#include "runtime/linear.h"
#include "runtime/quantize/float8.h"
#include "runtime/quantize/int4.h"
#include "runtime/quantize/rounding.h"

namespace axle::runtime {
namespace {

constexpr std::uint8_t two_zeros = 0x88;  ///< both nibbles 0 + 8
constexpr std::uint8_t two_ones = 0x11;   ///< factors of weights that are not there
constexpr std::size_t most_factors = (most_depth + two_level_group - 1) / two_level_group;

std::size_t smaller(std::size_t a, std::size_t b) { return a < b ? a : b; }

/// The nibble of weight `k` of column `column` of a block.
void place_int4(std::uint8_t* block, std::size_t column, std::size_t k, std::int8_t weight) {
  const std::size_t in_half = k % half_slab_depth;
  std::uint8_t& byte = block[k / depth_multiple * nibble_slab_bytes +
                             (in_half / 4 * block_columns + column) * 4 + in_half % 4];
  const unsigned nibble = static_cast<unsigned>(weight + 8);
  byte = static_cast<std::uint8_t>(k % depth_multiple < half_slab_depth
                                       ? (byte & 0xf0U) | nibble
                                       : (byte & 0x0fU) | nibble << 4U);
}

/// Weights [from, from + count) of a channel as q: given, or rounded from floats by `scale`.
void take_int4(axle_type type, const void* channel, std::size_t from, std::size_t count,
               float scale, std::int8_t* q) {
  if (type == AXLE_INT8) {
    std::memcpy(q, static_cast<const std::int8_t*>(channel) + from, count);
  } else {
    quantise_to_int4(static_cast<const float*>(channel) + from, count, scale, q);
  }
}

/// Whether none of `count` floats is infinite or a NaN.
bool all_finite(const float* values, std::size_t count) {
  return (bits_of_float(largest_magnitude_of(values, count)) & 0x7f800000U) != 0x7f800000U;
}

}  // namespace

std::size_t Linear::side_bytes() const {
  if (form_ == WeightForm::int4) return padded_n_ * (padded_k_ / group_) * sizeof(std::uint16_t);
  if (form_ == WeightForm::two_level) return padded_n_ * (padded_k_ / depth_multiple);
  return 0;
}

Linear::Wrong Linear::check_weights(const axle_linear_options& options, const Rows& rows) const {
  for (std::size_t r = 0; r < rows.count; ++r) {
    const std::size_t channel = rows.first + r;
    if (options.weight_type == AXLE_FLOAT32) {
      if (!all_finite(static_cast<const float*>(rows.weights) + r * k_, k_))
        return {Fault::not_finite, channel};
      continue;
    }
    const std::int8_t* const weights = static_cast<const std::int8_t*>(rows.weights) + r * k_;
    for (std::size_t i = 0; i < k_ && form_ != WeightForm::int8; ++i) {
      if (form_ == WeightForm::float8) {
        if (is_nan_float8(static_cast<std::uint8_t>(weights[i])))
          return {Fault::not_finite, channel};
      } else if (weights[i] < -8 || weights[i] > 7) {
        return {Fault::too_large, channel};
      }
    }
  }
  return {};
}

/// The scale of a whole channel; that of two levels is made when the channel is packed.
void Linear::take_scale(const axle_linear_options& options, const void* weights,
                        std::size_t channel) {
  if (form_ == WeightForm::int4 || form_ == WeightForm::two_level) return;
  const float steps = form_ == WeightForm::float8 ? largest_float8 : 127.0F;
  scales_.as<float>()[channel] =
      options.scales != nullptr
          ? options.scales[channel]
          : largest_magnitude_of(static_cast<const float*>(weights), k_) / steps;
}

void Linear::pack_channel_int4(const axle_linear_options& options, const void* weights,
                               std::size_t channel) {
  const std::size_t block = channel / block_columns;
  const std::size_t column = channel % block_columns;
  const std::size_t groups = (k_ + group_ - 1) / group_;
  std::uint8_t* const packed = weights_.as<std::uint8_t>(block * padded_k_ * block_columns / 2);
  std::uint16_t* const scales =
      side_.as<std::uint16_t>() + block * (padded_k_ / group_) * block_columns + column;
  for (std::size_t g = 0; g < groups; ++g) {
    const std::size_t from = g * group_;
    const std::size_t count = smaller(group_, k_ - from);
    const float scale =
        options.weight_type == AXLE_INT8
            ? stored_int4_scale(options.scales[channel * groups + g])
            : int4_scale(options.scaling, static_cast<const float*>(weights) + from, count);
    scales[g * block_columns] = static_cast<std::uint16_t>(bits_of_float(scale) >> 16U);
    std::int8_t q[largest_group];
    take_int4(options.weight_type, weights, from, count, scale, q);
    for (std::size_t i = 0; i < count; ++i) place_int4(packed, column, from + i, q[i]);
  }
}

void Linear::pack_channel_two_level(const axle_linear_options& options, const void* weights,
                                    std::size_t channel) {
  const std::size_t block = channel / block_columns;
  const std::size_t column = channel % block_columns;
  const std::size_t groups = (k_ + two_level_group - 1) / two_level_group;
  std::uint8_t* const packed = weights_.as<std::uint8_t>(block * padded_k_ * block_columns / 2);
  std::uint8_t* const sides = side_.as<std::uint8_t>(block * padded_k_) + column;
  float& scale = scales_.as<float>()[channel];
  std::uint8_t factors[most_factors];
  if (options.weight_type == AXLE_INT8) {
    scale = options.scales[channel];
    std::memcpy(factors, options.factors + channel * groups, groups);
  } else {
    scale = two_level_scales(static_cast<const float*>(weights), k_, factors);
  }
  std::int32_t sum = 0;
  for (std::size_t g = 0; g < groups; ++g) {
    const std::size_t from = g * two_level_group;
    const std::size_t count = smaller(two_level_group, k_ - from);
    std::int8_t q[two_level_group];
    take_int4(options.weight_type, weights, from, count, scale * static_cast<float>(factors[g]), q);
    for (std::size_t i = 0; i < count; ++i) {
      place_int4(packed, column, from + i, q[i]);
      sum += q[i] * factors[g];
    }
    std::uint8_t& side = sides[g / 2 * block_columns];
    side = static_cast<std::uint8_t>(g % 2 == 0 ? (side & 0xf0U) | factors[g]
                                                : (side & 0x0fU) | unsigned{factors[g]} << 4U);
  }
  correction_.as<std::int32_t>()[channel] = 128 * sum;
}

void Linear::pack_channel_float8(const axle_linear_options& options, const void* weights,
                                 std::size_t channel) {
  std::uint8_t* const packed =
      weights_.as<std::uint8_t>(channel / block_columns * padded_k_ * block_columns);
  const std::size_t column = channel % block_columns;
  const float scale = scales_.as<float>()[channel];
  for (std::size_t i = 0; i < k_; ++i) {
    std::uint8_t weight = 0;
    if (options.weight_type == AXLE_FLOAT8) {
      weight = static_cast<const std::uint8_t*>(weights)[i];
    } else if (scale != 0) {
      weight = to_float8(static_cast<const float*>(weights)[i] / scale);
    }
    packed[(i / 4 * block_columns + column) * 4 + i % 4] = weight;
  }
}

void Linear::clear_block(std::size_t block) {
  const bool nibbles = form_ == WeightForm::int4 || form_ == WeightForm::two_level;
  const std::size_t bytes = padded_k_ * block_columns / (nibbles ? 2 : 1);
  std::memset(weights_.as<char>(block * bytes), nibbles ? two_zeros : 0, bytes);
  const std::size_t side = side_bytes() / blocks();
  if (side != 0)
    std::memset(side_.as<char>(block * side), form_ == WeightForm::two_level ? two_ones : 0, side);
  if (correction_.data() != nullptr)
    std::memset(correction_.as<std::int32_t>() + block * block_columns, 0,
                block_columns * sizeof(std::int32_t));
}

void Linear::pack_rows(const axle_linear_options& options, const Rows& rows) {
  const std::size_t bytes = options.weight_type == AXLE_FLOAT32 ? sizeof(float) : 1;
  for (std::size_t r = 0; r < rows.count; ++r) {
    const void* const weights = static_cast<const char*>(rows.weights) + r * k_ * bytes;
    const std::size_t channel = rows.first + r;
    take_scale(options, weights, channel);
    switch (form_) {
      case WeightForm::int8:
        pack_channel_int8(options, weights, channel);
        break;
      case WeightForm::int4:
        pack_channel_int4(options, weights, channel);
        break;
      case WeightForm::two_level:
        pack_channel_two_level(options, weights, channel);
        break;
      case WeightForm::float8:
        pack_channel_float8(options, weights, channel);
        break;
    }
  }
}

}  // namespace axle::runtime
