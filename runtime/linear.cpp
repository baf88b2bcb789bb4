#include "runtime/linear.h"

#include <cstring>

#include "runtime/quantize/float8.h"
#include "runtime/quantize/int8.h"
#include "runtime/quantize/rounding.h"

namespace axle::runtime {
namespace {

constexpr std::size_t round_up(std::size_t value, std::size_t multiple) {
  return (value + multiple - 1) / multiple * multiple;
}

}  // namespace

axle_status Linear::allocate(bool with_bias) {
  const bool nibbles = form_ == WeightForm::int4 || form_ == WeightForm::two_level;
  const bool by_channel = form_ != WeightForm::int4;
  const bool corrected = form_ == WeightForm::int8 || form_ == WeightForm::two_level;
  weights_ = Memory(padded_n_ * padded_k_ / (nibbles ? 2 : 1));
  if (nibbles) side_ = Memory(side_bytes());
  if (by_channel) scales_ = Memory(padded_n_ * sizeof(float));
  if (corrected) correction_ = Memory(padded_n_ * sizeof(std::int32_t));
  if (with_bias) bias_ = Memory(padded_n_ * sizeof(float));
  const bool complete = weights_.data() != nullptr && (!nibbles || side_.data() != nullptr) &&
                        (!by_channel || scales_.data() != nullptr) &&
                        (!corrected || correction_.data() != nullptr) &&
                        (!with_bias || bias_.data() != nullptr);
  return complete ? AXLE_OK : AXLE_NO_MEMORY;
}

/// The scales of whole channels; those of two levels are made when their channel is packed.
void Linear::take_scales(const axle_linear_options& options) {
  if (scales_.data() == nullptr) return;
  float* const scales = scales_.as<float>();
  std::memset(scales, 0, padded_n_ * sizeof(float));
  if (form_ == WeightForm::two_level) return;
  if (options.scales != nullptr) {
    std::memcpy(scales, options.scales, n_ * sizeof(float));
    return;
  }
  const float* const weights = static_cast<const float*>(options.weights);
  const float steps = form_ == WeightForm::float8 ? largest_float8 : 127.0F;
  for (std::size_t channel = 0; channel < n_; ++channel)
    scales[channel] = largest_magnitude_of(weights + channel * k_, k_) / steps;
}

void Linear::pack_block_int8(const axle_linear_options& options, std::size_t block) {
  std::int8_t* const packed = weights_.as<std::int8_t>(block * padded_k_ * block_columns);
  std::int32_t* const correction = correction_.as<std::int32_t>() + block * block_columns;
  for (std::size_t column = 0; column < block_columns; ++column) {
    const std::size_t channel = block * block_columns + column;
    std::int32_t sum = 0;
    for (std::size_t i = 0; channel < n_ && i < k_; ++i) {
      const std::size_t from = channel * k_ + i;
      const std::int8_t weight =
          options.weight_type == AXLE_INT8
              ? static_cast<const std::int8_t*>(options.weights)[from]
              : quantise_to_int8(static_cast<const float*>(options.weights)[from],
                                 scales_.as<float>()[channel]);
      packed[(i / 4 * block_columns + column) * 4 + i % 4] = weight;
      sum += weight;
    }
    // 128 * 128 * most_depth fits int32.
    correction[column] = 128 * sum;
  }
}

axle_status Linear::pack(const axle_linear_options& options, axle_error* error) {
  const axle_status checked = check(options, error);
  if (checked != AXLE_OK) return checked;
  mode_ = options.mode;
  n_ = options.n;
  k_ = options.k;
  padded_n_ = round_up(n_, block_columns);
  form_ = weight_form(options);
  group_ = form_ == WeightForm::int4 ? group_of(options) : 0;
  padded_k_ = round_up(k_, group_ > depth_multiple ? group_ : depth_multiple);
  if (allocate(options.bias != nullptr) != AXLE_OK)
    return report_failure(error, AXLE_NO_MEMORY, "no memory for %zu x %zu weights", n_, k_);
  if (options.bias != nullptr) {
    std::memset(bias_.data(), 0, padded_n_ * sizeof(float));
    std::memcpy(bias_.data(), options.bias, n_ * sizeof(float));
  }
  const axle_status right = check_weights(options, error);
  if (right != AXLE_OK) return right;
  take_scales(options);
  // Each thread writes, and so places in its memory, the blocks that it will read.
  ThreadPool& pool = engine_.pool();
  const bool shared = pool.try_acquire();
  const std::size_t parts = shared ? static_cast<std::size_t>(pool.threads()) : 1;
  auto part = [&](int thread) {
    const std::size_t t = static_cast<std::size_t>(thread);
    for (std::size_t b = blocks() * t / parts; b < blocks() * (t + 1) / parts; ++b)
      pack_block(options, b);
  };
  if (shared) {
    pool.run(part);
    pool.release();
  } else {
    part(0);
  }
  return AXLE_OK;
}

}  // namespace axle::runtime
