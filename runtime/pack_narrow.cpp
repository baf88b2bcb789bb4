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
void take_int4(const axle_linear_options& options, std::size_t from, std::size_t count, float scale,
               std::int8_t* q) {
  if (options.weight_type == AXLE_INT8) {
    std::memcpy(q, static_cast<const std::int8_t*>(options.weights) + from, count);
  } else {
    quantise_to_int4(static_cast<const float*>(options.weights) + from, count, scale, q);
  }
}

}  // namespace

std::size_t Linear::side_bytes() const {
  if (form_ == WeightForm::int4) return padded_n_ * (padded_k_ / group_) * sizeof(std::uint16_t);
  if (form_ == WeightForm::two_level) return padded_n_ * (padded_k_ / depth_multiple);
  return 0;
}

axle_status Linear::check_weights(const axle_linear_options& options, axle_error* error) const {
  for (std::size_t channel = 0; channel < n_; ++channel) {
    const std::size_t first = channel * k_;
    bool finite = true;
    bool fits = true;
    for (std::size_t i = first; i < first + k_; ++i) {
      if (options.weight_type == AXLE_FLOAT32) {
        const std::uint32_t bits = bits_of_float(static_cast<const float*>(options.weights)[i]);
        finite = finite && (bits & 0x7f800000U) != 0x7f800000U;
      } else if (form_ == WeightForm::float8) {
        finite = finite && !is_nan_float8(static_cast<const std::uint8_t*>(options.weights)[i]);
      } else if (form_ != WeightForm::int8) {
        const std::int8_t weight = static_cast<const std::int8_t*>(options.weights)[i];
        fits = fits && weight >= -8 && weight <= 7;
      }
    }
    if (!finite)
      return report_failure(error, AXLE_BAD_ARGUMENT,
                            "a weight of output channel %zu is not finite", channel);
    if (!fits)
      return report_failure(error, AXLE_BAD_ARGUMENT,
                            "a weight of output channel %zu is not in [-8, 7]", channel);
  }
  return AXLE_OK;
}

void Linear::pack_channel_int4(const axle_linear_options& options, std::size_t channel) {
  const std::size_t block = channel / block_columns;
  const std::size_t column = channel % block_columns;
  const std::size_t groups = (k_ + group_ - 1) / group_;
  std::uint8_t* const packed = weights_.as<std::uint8_t>(block * padded_k_ * block_columns / 2);
  std::uint16_t* const scales =
      side_.as<std::uint16_t>() + block * (padded_k_ / group_) * block_columns + column;
  for (std::size_t g = 0; g < groups; ++g) {
    const std::size_t from = channel * k_ + g * group_;
    const std::size_t count = smaller(group_, k_ - g * group_);
    const float scale =
        options.weight_type == AXLE_INT8
            ? stored_int4_scale(options.scales[channel * groups + g])
            : int4_scale(options.scaling, static_cast<const float*>(options.weights) + from, count);
    scales[g * block_columns] = static_cast<std::uint16_t>(bits_of_float(scale) >> 16U);
    std::int8_t q[largest_group];
    take_int4(options, from, count, scale, q);
    for (std::size_t i = 0; i < count; ++i) place_int4(packed, column, g * group_ + i, q[i]);
  }
}

void Linear::pack_channel_two_level(const axle_linear_options& options, std::size_t channel) {
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
    scale =
        two_level_scales(static_cast<const float*>(options.weights) + channel * k_, k_, factors);
  }
  std::int32_t sum = 0;
  for (std::size_t g = 0; g < groups; ++g) {
    const std::size_t from = g * two_level_group;
    const std::size_t count = smaller(two_level_group, k_ - from);
    std::int8_t q[two_level_group];
    take_int4(options, channel * k_ + from, count, scale * static_cast<float>(factors[g]), q);
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

void Linear::pack_block_float8(const axle_linear_options& options, std::size_t block) {
  std::uint8_t* const packed = weights_.as<std::uint8_t>(block * padded_k_ * block_columns);
  for (std::size_t column = 0; column < block_columns; ++column) {
    const std::size_t channel = block * block_columns + column;
    for (std::size_t i = 0; channel < n_ && i < k_; ++i) {
      const std::size_t from = channel * k_ + i;
      const float scale = scales_.as<float>()[channel];
      std::uint8_t weight = 0;
      if (options.weight_type == AXLE_FLOAT8) {
        weight = static_cast<const std::uint8_t*>(options.weights)[from];
      } else if (scale != 0) {
        weight = to_float8(static_cast<const float*>(options.weights)[from] / scale);
      }
      packed[(i / 4 * block_columns + column) * 4 + i % 4] = weight;
    }
  }
}

void Linear::pack_block(const axle_linear_options& options, std::size_t block) {
  const bool nibbles = form_ == WeightForm::int4 || form_ == WeightForm::two_level;
  const std::size_t bytes = padded_k_ * block_columns / (nibbles ? 2 : 1);
  std::memset(weights_.as<char>(block * bytes), nibbles ? two_zeros : 0, bytes);
  const std::size_t side = side_bytes() / blocks();
  if (side != 0)
    std::memset(side_.as<char>(block * side), form_ == WeightForm::two_level ? two_ones : 0, side);
  if (form_ == WeightForm::int8) return pack_block_int8(options, block);
  if (form_ == WeightForm::float8) return pack_block_float8(options, block);
  if (form_ == WeightForm::two_level)
    std::memset(correction_.as<std::int32_t>() + block * block_columns, 0,
                block_columns * sizeof(std::int32_t));
  const std::size_t first = block * block_columns;
  for (std::size_t channel = first; channel < smaller(n_, first + block_columns); ++channel) {
    if (form_ == WeightForm::int4) {
      pack_channel_int4(options, channel);
    } else {
      pack_channel_two_level(options, channel);
    }
  }
}

}  // namespace axle::runtime
