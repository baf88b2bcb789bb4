#include "runtime/model/layers/projection.h"

#include <cstdint>
#include <cstring>
#include <functional>
#include <mutex>
#include <optional>

#include "runtime/model/layers/stored_rows.h"

namespace axle::runtime {
namespace {

constexpr ModelMode modes[] = {{"float", false, AXLE_A16W8, 0}, {"a16w8", true, AXLE_A16W8, 0},
                               {"da8w8", true, AXLE_DA8W8, 0},  {"a16w4", true, AXLE_A16W4, 64},
                               {"da8w4", true, AXLE_DA8W4, 64}, {"fp8", true, AXLE_A16F8, 0}};

/// What the layer below says, which knows no names.
std::unexpected<Failure> not_packed(const WeightRows& weights, axle_status status,
                                    const char* message) {
  if (status == AXLE_NO_MEMORY) return no_memory_for(weights);
  return failure(status, "%s: %s: %s", weights.where().c_str(), weights.names().c_str(), message);
}

}  // namespace

std::span<const ModelMode> model_modes() { return modes; }

const ModelMode* find_mode(std::string_view name) {
  for (const ModelMode& mode : modes) {
    if (name == mode.name) return &mode;
  }
  return nullptr;
}

/// Rows for several threads, and what was wrong with the first that could not be read.
class Projection::RowReading {
 public:
  using Read = std::function<Result<void>(std::size_t first, std::size_t count, void* to)>;

  RowReading(const WeightRows& weights, Read read) : weights_(weights), read_(std::move(read)) {}

  /// As WeightReader has it.
  static bool read(void* context, std::size_t first, std::size_t count, void* to) noexcept {
    RowReading& self = *static_cast<RowReading*>(context);
    Result<void> done = caught([&] { return self.read_(first, count, to); });
    if (!done) self.keep(first, std::move(done.error()));
    return done.has_value();
  }

  [[nodiscard]] const WeightRows& weights() const { return weights_; }

  /// All threads have ended: what was wrong.
  [[nodiscard]] Result<void> end() const {
    if (!failure_) return {};
    if (failure_->status == AXLE_NO_MEMORY) return no_memory_for(weights_);
    return std::unexpected(*failure_);
  }

 private:
  void keep(std::size_t first, Failure&& failure) {
    const std::lock_guard lock(mutex_);
    if (failure_ && first_ < first) return;
    first_ = first;
    failure_ = std::move(failure);
  }

  const WeightRows& weights_;
  Read read_;
  std::mutex mutex_;
  std::size_t first_ = 0;
  std::optional<Failure> failure_;
};

Result<Projection> Projection::pack(Engine& engine, const ModelMode& mode,
                                    const WeightRows& weights, const std::vector<float>& bias) {
  Projection projection(engine);
  projection.inputs_ = weights.columns();
  projection.outputs_ = weights.rows();
  Result<void> packed;
  if (weights.is_stored()) {
    packed = projection.pack_stored(mode, weights, bias);
  } else {
    RowReading reading(weights, [&](std::size_t first, std::size_t count, void* to) {
      return weights.read(first, count, static_cast<float*>(to));
    });
    projection.bias_ = mode.quantised ? std::vector<float>() : bias;
    packed = mode.quantised ? projection.pack_linear(mode, reading, nullptr, bias)
                            : projection.pack_floats(reading);
  }
  if (!packed) return std::unexpected(packed.error());
  return projection;
}

/// `scales` null: of floats.
Result<void> Projection::pack_linear(const ModelMode& mode, RowReading& reading,
                                     const float* scales, const std::vector<float>& bias) {
  const axle_type stored = mode.linear == AXLE_A16F8 ? AXLE_FLOAT8 : AXLE_INT8;
  linear_ = std::make_unique<Linear>(*engine_);
  axle_error error{};
  const axle_status status =
      linear_->pack({.struct_size = sizeof(axle_linear_options),
                     .mode = mode.linear,
                     .weight_type = scales == nullptr ? AXLE_FLOAT32 : stored,
                     .n = outputs_,
                     .k = inputs_,
                     .weights = nullptr,
                     .scales = scales,
                     .bias = bias.empty() ? nullptr : bias.data(),
                     .group = mode.group,
                     .scaling = AXLE_SEARCHED,
                     .reserved = 0,
                     .factors = nullptr,
                     .device = nullptr},
                    {RowReading::read, &reading}, &error);
  const Result<void> read = reading.end();
  if (!read) return read;
  if (status != AXLE_OK) return not_packed(reading.weights(), status, error.message);
  return {};
}

Result<void> Projection::pack_stored(const ModelMode& mode, const WeightRows& weights,
                                     const std::vector<float>& bias) {
  const Result<StoredRows> rows = StoredRows::open(weights, mode);
  if (!rows) return std::unexpected(rows.error());
  RowReading reading(weights, [&](std::size_t first, std::size_t count, void* to) {
    return rows->read(first, count, static_cast<std::int8_t*>(to));
  });
  return pack_linear(mode, reading, rows->scales().data(), bias);
}

Result<void> Projection::pack_floats(RowReading& reading) {
  const std::size_t blocks = (outputs_ + block_columns - 1) / block_columns;
  const std::size_t block_floats = block_columns * inputs_;
  floats_ = Memory(blocks * block_floats * sizeof(float));
  const Memory scratch(static_cast<std::size_t>(engine_->pool().threads()) * block_floats *
                       sizeof(float));
  if (floats_.data() == nullptr || scratch.data() == nullptr)
    return no_memory_for(reading.weights());
  engine_->share(blocks, outputs_ * inputs_, [&](std::size_t block, std::size_t thread) noexcept {
    const std::size_t first = block * block_columns;
    const std::size_t count = outputs_ - first < block_columns ? outputs_ - first : block_columns;
    float* const rows = scratch.as<float>() + thread * block_floats;
    float* const to = floats_.as<float>() + first * inputs_;
    std::memset(rows, 0, block_floats * sizeof(float));
    if (!RowReading::read(&reading, first, count, rows)) return;
    for (std::size_t k = 0; k < inputs_; ++k) {
      for (std::size_t c = 0; c < block_columns; ++c)
        to[k * block_columns + c] = rows[c * inputs_ + k];
    }
  });
  return reading.end();
}

void Projection::multiply_floats(const float* x, std::size_t rows, const RowResult& result) {
  const ModelSteps& steps = *engine_->kernel_for(1).set->model;
  const std::size_t blocks = (outputs_ + block_columns - 1) / block_columns;
  // Rows are taken in groups whose results fit a cache.
  constexpr std::size_t group = 32;
  engine_->share(blocks, rows * inputs_ * outputs_, [&](std::size_t block, std::size_t) noexcept {
    const std::size_t column = block * block_columns;
    const std::size_t width = outputs_ - column < block_columns ? outputs_ - column : block_columns;
    float sums[group * block_columns];
    for (std::size_t row = 0; row < rows; row += group) {
      const std::size_t count = rows - row < group ? rows - row : group;
      steps.multiply_floats({.weights = floats_.as<float>() + column * inputs_,
                             .x = x + row * inputs_,
                             .x_floats = inputs_,
                             .rows = count,
                             .depth = inputs_,
                             .y = sums,
                             .y_floats = block_columns});
      for (std::size_t r = 0; r < count; ++r) {
        float* const y = result.y + (row + r) * outputs_ + column;
        for (std::size_t c = 0; c < width; ++c) {
          const float sum =
              sums[r * block_columns + c] + (bias_.empty() ? 0.0F : bias_[column + c]);
          y[c] = result.added ? y[c] + sum : sum;
        }
      }
    }
  });
}

/// Step after step: this mode is there to compare with.
Result<void> Projection::forward_floats(const RowSource& source, std::size_t rows,
                                        const RowResult& result) {
  const float* x = static_cast<const float*>(source.x);
  const bool is_made = source.kind != RowSource::Kind::stored;
  const Memory made(is_made ? rows * inputs_ * sizeof(float) : 0);
  if (is_made && made.data() == nullptr)
    return failure(AXLE_NO_MEMORY, "no memory for %zu rows of %zu numbers", rows, inputs_);
  if (is_made) {
    const ModelSteps& steps = *engine_->kernel_for(1).set->model;
    engine_->share(rows, rows * inputs_ * operations_of(source.kind),
                   [&](std::size_t r, std::size_t) noexcept {
                     make_row(source, steps, r, inputs_, made.as<float>() + r * inputs_);
                   });
    x = made.as<float>();
  }
  multiply_floats(x, rows, result);
  if (result.complete != nullptr)
    engine_->share(rows, rows * result.operations, [&](std::size_t r, std::size_t) noexcept {
      result.complete(result.context, r);
    });
  return {};
}

std::size_t Projection::bytes() const {
  return linear_ != nullptr ? linear_->bytes() : floats_.size() + bias_.size() * sizeof(float);
}

Result<void> Projection::forward(const RowSource& source, std::size_t rows,
                                 const RowResult& result) {
  if (linear_ == nullptr) return forward_floats(source, rows, result);
  axle_error error{};
  const axle_status status = linear_->forward(source, rows, result, &error);
  if (status != AXLE_OK) return failure(status, "%s", error.message);
  return {};
}

}  // namespace axle::runtime
