#pragma once
// A linear layer of a model in one of the modes: weights quantised and packed, or as floats.

#include <cstddef>
#include <memory>
#include <string_view>
#include <vector>

#include "runtime/engine.h"
#include "runtime/linear.h"
#include "runtime/model/layers/weight_rows.h"
#include "runtime/result.h"

namespace axle::runtime {

/// How the linear layers of a model compute.
struct ModelMode {
  const char* name;   ///< "float", "a16w8", …
  bool quantised;     ///< else float32 weights and activations, summed in float32
  axle_mode linear;   ///< where quantised
  std::size_t group;  ///< of int4 weights, else 0
  /// Scales of int4 weights that are stored may be negative; others never are.
  bool signed_scales = true;
};

/// All modes, `float` first.
[[nodiscard]] std::span<const ModelMode> model_modes();
[[nodiscard]] const ModelMode* find_mode(std::string_view name);

class Projection {
 public:
  /// `bias` has a value a row, or is empty. Errors name the tensor.
  [[nodiscard]] static Result<Projection> pack(Engine& engine, const ModelMode& mode,
                                               const WeightRows& weights,
                                               const std::vector<float>& bias);

  /// [rows][outputs] from [rows][inputs].
  [[nodiscard]] Result<void> forward(const RowSource& source, std::size_t rows,
                                     const RowResult& result);

  /// Of so many rows those that are computed together: all, where it does not matter.
  [[nodiscard]] std::size_t chunk_rows(std::size_t rows) {
    return linear_ != nullptr ? linear_->chunk_rows(rows) : rows;
  }

  [[nodiscard]] std::size_t outputs() const { return outputs_; }
  [[nodiscard]] std::size_t bytes() const;  ///< of packed weights
  /// Null in mode float.
  [[nodiscard]] Linear* linear() const { return linear_.get(); }

 private:
  class RowReading;

  explicit Projection(Engine& engine) : engine_(&engine) {}
  [[nodiscard]] Result<void> pack_linear(const ModelMode& mode, RowReading& reading,
                                         const float* scales, const std::vector<float>& bias);
  [[nodiscard]] Result<void> pack_stored(const ModelMode& mode, const WeightRows& weights,
                                         const std::vector<float>& bias);
  [[nodiscard]] Result<void> pack_floats(RowReading& reading);
  [[nodiscard]] Result<void> forward_floats(const RowSource& source, std::size_t rows,
                                            const RowResult& result);
  void multiply_floats(const float* x, std::size_t rows, const RowResult& result);

  Engine* engine_;
  std::unique_ptr<Linear> linear_;  ///< of quantised modes
  Memory floats_;                   ///< else [outputs rounded up to 64 / 64][inputs][64]
  std::vector<float> bias_;         ///< of float mode
  std::size_t inputs_ = 0;
  std::size_t outputs_ = 0;
};

}  // namespace axle::runtime
