#include "runtime/linear.h"

#include <cstring>

#include "runtime/quantize/int8.h"

namespace axle::runtime {
namespace {

/// Weights of a channel that are quantised together, a multiple of 4.
constexpr std::size_t part_length = 256;

/// Of one weight as it is given.
std::size_t weight_bytes(const axle_linear_options& options) {
  return options.weight_type == AXLE_FLOAT32 ? sizeof(float) : 1;
}

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

void Linear::drop_packed() {
  for (Memory* memory : {&weights_, &side_, &scales_, &bias_, &correction_}) *memory = Memory();
}

void Linear::pack_channel_int8(const axle_linear_options& options, const void* weights,
                               std::size_t channel) {
  const std::size_t block = channel / block_columns;
  const std::size_t column = channel % block_columns;
  std::int8_t* const packed = weights_.as<std::int8_t>(block * padded_k_ * block_columns);
  std::int32_t sum = 0;
  std::int8_t part[part_length];
  for (std::size_t from = 0; from < k_; from += part_length) {
    const std::size_t count = k_ - from < part_length ? k_ - from : part_length;
    if (options.weight_type == AXLE_INT8) {
      std::memcpy(part, static_cast<const std::int8_t*>(weights) + from, count);
    } else {
      quantise_to_int8(static_cast<const float*>(weights) + from, count,
                       scales_.as<float>()[channel], part);
    }
    std::memset(part + count, 0, part_length - count);
    for (std::size_t i = 0; i < count; i += 4)
      std::memcpy(packed + ((from + i) / 4 * block_columns + column) * 4, part + i, 4);
    for (std::size_t i = 0; i < count; ++i) sum += part[i];
  }
  // 128 * 128 * most_depth fits int32.
  correction_.as<std::int32_t>()[channel] = 128 * sum;
}

void Linear::take_shape(const axle_linear_options& options) {
  mode_ = options.mode;
  n_ = options.n;
  k_ = options.k;
  padded_n_ = round_up(n_, block_columns);
  form_ = weight_form(options);
  group_ = form_ == WeightForm::int4 ? group_of(options) : 0;
  padded_k_ = round_up(k_, group_ > depth_multiple ? group_ : depth_multiple);
}

/// Reads, checks and packs the channels of a block. `scratch`, [rows_together][k], with a reader.
Linear::Wrong Linear::pack_block(const axle_linear_options& options, const WeightReader* reader,
                                 std::size_t block, void* scratch) {
  clear_block(block);
  const std::size_t begin = block * block_columns;
  const std::size_t end = n_ - begin < block_columns ? n_ : begin + block_columns;
  const std::size_t row_bytes = k_ * weight_bytes(options);
  for (std::size_t first = begin; first < end; first += rows_together) {
    const std::size_t count = end - first < rows_together ? end - first : rows_together;
    if (reader != nullptr && !reader->read(reader->context, first, count, scratch))
      return {Fault::unreadable, first};
    const Rows rows{reader != nullptr
                        ? scratch
                        : static_cast<const void*>(static_cast<const char*>(options.weights) +
                                                   first * row_bytes),
                    first, count};
    const Wrong wrong = check_weights(options, rows);
    if (wrong.fault != Fault::none) return wrong;
    pack_rows(options, rows);
  }
  return {};
}

axle_status Linear::pack_all(const axle_linear_options& options, const WeightReader* reader,
                             axle_error* error) {
  ThreadPool& pool = engine_.pool();
  const bool shared = pool.try_acquire();
  const std::size_t parts = shared ? static_cast<std::size_t>(pool.threads()) : 1;
  const std::size_t part_bytes = rows_together * k_ * weight_bytes(options);
  const Memory scratch(reader != nullptr ? parts * part_bytes : 0);
  Wrong wrong[ThreadPool::most_threads];
  // Each thread writes, and so places in its memory, the blocks that it will read.
  auto part = [&](int thread) {
    const std::size_t t = static_cast<std::size_t>(thread);
    void* const own = reader != nullptr ? scratch.as<char>(t * part_bytes) : nullptr;
    for (std::size_t b = blocks() * t / parts; b < blocks() * (t + 1) / parts; ++b) {
      wrong[t] = pack_block(options, reader, b, own);
      if (wrong[t].fault != Fault::none) return;
    }
  };
  const bool room = reader == nullptr || scratch.data() != nullptr;
  if (room && shared) pool.run(part);
  if (room && !shared) part(0);
  if (shared) pool.release();
  if (!room) return report_failure(error, AXLE_NO_MEMORY, "no memory for %zu weights", k_);
  // Threads have their channels in order: the first that found something found the first of all.
  for (std::size_t t = 0; t < parts; ++t) {
    const std::size_t channel = wrong[t].channel;
    if (wrong[t].fault == Fault::unreadable)
      return report_failure(error, AXLE_MALFORMED, "output channel %zu cannot be read", channel);
    if (wrong[t].fault == Fault::not_finite)
      return report_failure(error, AXLE_BAD_ARGUMENT,
                            "a weight of output channel %zu is not finite", channel);
    if (wrong[t].fault == Fault::too_large)
      return report_failure(error, AXLE_BAD_ARGUMENT,
                            "a weight of output channel %zu is not in [-8, 7]", channel);
  }
  return AXLE_OK;
}

axle_status Linear::pack(const axle_linear_options& options, const WeightReader& reader,
                         axle_error* error) {
  return pack_from(options, &reader, error);
}

axle_status Linear::pack(const axle_linear_options& options, axle_error* error) {
  if (options.weights == nullptr)
    return report_failure(error, AXLE_BAD_ARGUMENT, "no weights were given");
  return pack_from(options, nullptr, error);
}

axle_status Linear::pack_from(const axle_linear_options& options, const WeightReader* reader,
                              axle_error* error) {
  const axle_status checked = check(options, error);
  if (checked != AXLE_OK) return checked;
  take_shape(options);
  if (allocate(options.bias != nullptr) != AXLE_OK)
    return report_failure(error, AXLE_NO_MEMORY, "no memory for %zu x %zu weights", n_, k_);
  if (options.bias != nullptr) {
    std::memset(bias_.data(), 0, padded_n_ * sizeof(float));
    std::memcpy(bias_.data(), options.bias, n_ * sizeof(float));
  }
  if (scales_.data() != nullptr) std::memset(scales_.data(), 0, padded_n_ * sizeof(float));
  return pack_all(options, reader, error);
}

}  // namespace axle::runtime
