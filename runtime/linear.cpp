#include "runtime/linear.h"

#include <cstring>

namespace axle::runtime {
namespace {

constexpr std::size_t round_up(std::size_t value, std::size_t multiple) {
  return (value + multiple - 1) / multiple * multiple;
}

bool is_finite(float v) {
  std::uint32_t bits = 0;
  std::memcpy(&bits, &v, 4);
  return (bits & 0x7f800000U) != 0x7f800000U;
}

bool all_finite(const float* values, std::size_t count) {
  for (std::size_t i = 0; i < count; ++i) {
    if (!is_finite(values[i])) return false;
  }
  return true;
}

float largest(const float* values, std::size_t count) {
  float most = 0;
  for (std::size_t i = 0; i < count; ++i) {
    const float magnitude = values[i] < 0 ? -values[i] : values[i];
    if (magnitude > most) most = magnitude;
  }
  return most;
}

/// To the nearest, ties to even: a double of this size has no fraction left.
std::int8_t quantise_weight(float weight, float scale) {
  if (scale == 0) return 0;
  const double ratio = static_cast<double>(weight) / static_cast<double>(scale);
  constexpr double shift = 6755399441055744.0;
  const volatile double shifted = ratio + shift;
  const double rounded = shifted - shift;
  return static_cast<std::int8_t>(rounded > 127 ? 127 : rounded < -127 ? -127 : rounded);
}

axle_status check(const axle_linear_options& options, axle_error* error) {
  if (options.mode != AXLE_DA8W8 && options.mode != AXLE_A16W8)
    return report_failure(error, AXLE_BAD_ARGUMENT, "unknown mode %d", options.mode);
  if (options.weight_type != AXLE_INT8 && options.weight_type != AXLE_FLOAT32)
    return report_failure(error, AXLE_BAD_ARGUMENT, "weights must be int8 or float32, not type %d",
                          options.weight_type);
  if (options.weights == nullptr)
    return report_failure(error, AXLE_BAD_ARGUMENT, "no weights were given");
  if (options.k == 0 || options.k > most_depth)
    return report_failure(error, AXLE_BAD_ARGUMENT,
                          "k (input features) is %zu; it must be 1 to %zu", options.k, most_depth);
  if (options.n == 0 || options.n > SIZE_MAX / 16 / round_up(options.k, depth_multiple))
    return report_failure(error, AXLE_BAD_ARGUMENT,
                          "n (output features) is %zu; it must be at least 1 and fit memory",
                          options.n);
  if ((options.weight_type == AXLE_INT8) != (options.scales != nullptr))
    return report_failure(error, AXLE_BAD_ARGUMENT,
                          options.scales == nullptr ? "int8 weights need scales"
                                                    : "float32 weights are given without scales");
  if (options.scales != nullptr && !all_finite(options.scales, options.n))
    return report_failure(error, AXLE_BAD_ARGUMENT, "a scale is not finite");
  if (options.bias != nullptr && !all_finite(options.bias, options.n))
    return report_failure(error, AXLE_BAD_ARGUMENT, "a bias is not finite");
  return AXLE_OK;
}

}  // namespace

axle_status Linear::allocate(bool with_bias) {
  weights_ = Memory(padded_n_ * padded_k_);
  scales_ = Memory(padded_n_ * sizeof(float));
  correction_ = Memory(padded_n_ * sizeof(std::int32_t));
  if (with_bias) bias_ = Memory(padded_n_ * sizeof(float));
  const bool complete = weights_.data() != nullptr && scales_.data() != nullptr &&
                        correction_.data() != nullptr && (!with_bias || bias_.data() != nullptr);
  return complete ? AXLE_OK : AXLE_NO_MEMORY;
}

axle_status Linear::take_scales(const axle_linear_options& options, axle_error* error) {
  float* const scales = scales_.as<float>();
  std::memset(scales, 0, padded_n_ * sizeof(float));
  if (options.scales != nullptr) {
    std::memcpy(scales, options.scales, n_ * sizeof(float));
    return AXLE_OK;
  }
  const float* const weights = static_cast<const float*>(options.weights);
  for (std::size_t channel = 0; channel < n_; ++channel) {
    if (!all_finite(weights + channel * k_, k_))
      return report_failure(error, AXLE_BAD_ARGUMENT,
                            "a weight of output channel %zu is not finite", channel);
    scales[channel] = largest(weights + channel * k_, k_) / 127.0F;
  }
  return AXLE_OK;
}

void Linear::pack_block(const axle_linear_options& options, std::size_t block) {
  std::int8_t* const packed = weights_.as<std::int8_t>(block * padded_k_ * block_columns);
  std::int32_t* const correction = correction_.as<std::int32_t>() + block * block_columns;
  std::memset(packed, 0, padded_k_ * block_columns);
  for (std::size_t column = 0; column < block_columns; ++column) {
    const std::size_t channel = block * block_columns + column;
    std::int32_t sum = 0;
    for (std::size_t i = 0; channel < n_ && i < k_; ++i) {
      const std::size_t from = channel * k_ + i;
      const std::int8_t weight =
          options.weight_type == AXLE_INT8
              ? static_cast<const std::int8_t*>(options.weights)[from]
              : quantise_weight(static_cast<const float*>(options.weights)[from],
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
  padded_k_ = round_up(k_, depth_multiple);
  if (allocate(options.bias != nullptr) != AXLE_OK)
    return report_failure(error, AXLE_NO_MEMORY, "no memory for %zu x %zu weights", n_, k_);
  if (options.bias != nullptr) {
    std::memset(bias_.data(), 0, padded_n_ * sizeof(float));
    std::memcpy(bias_.data(), options.bias, n_ * sizeof(float));
  }
  const axle_status scaled = take_scales(options, error);
  if (scaled != AXLE_OK) return scaled;
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
