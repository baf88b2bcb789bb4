#include "runtime/model/layers/projection.h"

#include <atomic>
#include <cstdint>
#include <cstring>

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

/// Rows for several threads, and which of them was the first that could not be read.
class Projection::RowReading {
 public:
  explicit RowReading(const WeightRows& weights) : weights_(weights) {}

  /// As WeightReader has it.
  static bool read(void* context, std::size_t first, std::size_t count, float* to) {
    RowReading& self = *static_cast<RowReading*>(context);
    if (self.weights_.read(first, count, to)) return true;
    std::size_t before = self.unreadable_.load();
    while (first < before && !self.unreadable_.compare_exchange_weak(before, first)) {
    }
    return false;
  }

  /// All threads have ended: what was wrong.
  [[nodiscard]] const WeightRows& weights() const { return weights_; }

  [[nodiscard]] Result<void> end() const {
    weights_.forget();
    if (unreadable_.load() == none) return {};
    const std::size_t left = weights_.rows() - unreadable_.load();
    const std::size_t count = left < block_columns ? left : block_columns;
    std::vector<float> rows(count * weights_.columns());
    return weights_.read(unreadable_.load(), count, rows.data());
  }

 private:
  static constexpr std::size_t none = SIZE_MAX;

  const WeightRows& weights_;
  std::atomic<std::size_t> unreadable_{none};  ///< first of the rows that were read together
};

Result<Projection> Projection::pack(Engine& engine, const ModelMode& mode,
                                    const WeightRows& weights, const std::vector<float>& bias) {
  Projection projection(engine);
  projection.inputs_ = weights.columns();
  projection.outputs_ = weights.rows();
  if (weights.is_stored()) {
    const Result<void> packed = projection.pack_stored(mode, weights, bias);
    if (!packed) return std::unexpected(packed.error());
    return projection;
  }
  RowReading reading(weights);
  if (!mode.quantised) {
    projection.bias_ = bias;
    const Result<void> packed = projection.pack_floats(reading);
    if (!packed) return std::unexpected(packed.error());
    return projection;
  }
  projection.linear_ = std::make_unique<Linear>(engine);
  axle_error error{};
  const axle_status status = projection.linear_->pack({.struct_size = sizeof(axle_linear_options),
                                                       .mode = mode.linear,
                                                       .weight_type = AXLE_FLOAT32,
                                                       .n = projection.outputs_,
                                                       .k = projection.inputs_,
                                                       .weights = nullptr,
                                                       .scales = nullptr,
                                                       .bias = bias.empty() ? nullptr : bias.data(),
                                                       .group = mode.group,
                                                       .scaling = AXLE_SEARCHED,
                                                       .reserved = 0,
                                                       .factors = nullptr},
                                                      {RowReading::read, &reading}, &error);
  const Result<void> read = reading.end();
  if (!read) return std::unexpected(read.error());
  if (status != AXLE_OK) return not_packed(weights, status, error.message);
  return projection;
}

Result<void> Projection::pack_stored(const ModelMode& mode, const WeightRows& weights,
                                     const std::vector<float>& bias) {
  const Result<StoredRows> rows = read_stored_rows(weights, mode);
  if (!rows) return std::unexpected(rows.error());
  linear_ = std::make_unique<Linear>(*engine_);
  axle_error error{};
  const axle_status status =
      linear_->pack({.struct_size = sizeof(axle_linear_options),
                     .mode = mode.linear,
                     .weight_type = mode.linear == AXLE_A16F8 ? AXLE_FLOAT8 : AXLE_INT8,
                     .n = outputs_,
                     .k = inputs_,
                     .weights = rows->values.data(),
                     .scales = rows->scales.data(),
                     .bias = bias.empty() ? nullptr : bias.data(),
                     .group = mode.group,
                     .scaling = AXLE_SEARCHED,
                     .reserved = 0,
                     .factors = nullptr},
                    &error);
  if (status != AXLE_OK) return not_packed(weights, status, error.message);
  return {};
}

Result<void> Projection::pack_floats(RowReading& reading) {
  const std::size_t blocks = (outputs_ + block_columns - 1) / block_columns;
  const std::size_t block_floats = block_columns * inputs_;
  floats_ = Memory(blocks * block_floats * sizeof(float));
  const Memory scratch(static_cast<std::size_t>(engine_->pool().threads()) * block_floats *
                       sizeof(float));
  if (floats_.data() == nullptr || scratch.data() == nullptr)
    return no_memory_for(reading.weights());
  engine_->share(blocks, outputs_ * inputs_, [&](std::size_t block, std::size_t thread) {
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
  engine_->share(blocks, rows * inputs_ * outputs_, [&](std::size_t block, std::size_t) {
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
                   [&](std::size_t r, std::size_t) {
                     make_row(source, steps, r, inputs_, made.as<float>() + r * inputs_);
                   });
    x = made.as<float>();
  }
  multiply_floats(x, rows, result);
  if (result.complete != nullptr)
    engine_->share(rows, rows * result.operations,
                   [&](std::size_t r, std::size_t) { result.complete(result.context, r); });
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
