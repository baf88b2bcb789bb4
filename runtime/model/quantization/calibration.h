#pragma once
// What enters the linear layers of a decoder while it reads a text, in float32, a layer at a time:
// no more than one layer's weights are in memory.

#include <functional>
#include <span>
#include <vector>

#include "runtime/engine.h"
#include "runtime/model/description/model_shape.h"
#include "runtime/model/description/tensor_names.h"
#include "runtime/model/layers/attention.h"
#include "runtime/model/layers/projection.h"
#include "runtime/model/layers/rotary.h"
#include "runtime/result.h"

namespace axle::runtime {

/// Rows of activations, [rows][columns].
struct Activations {
  std::vector<float> values;
  std::size_t columns = 0;

  [[nodiscard]] std::size_t rows() const { return values.size() / columns; }
  [[nodiscard]] const float* row(std::size_t index) const {
    return values.data() + index * columns;
  }
};

/// The inputs of a layer's linear layers.
struct LayerInputs {
  Activations attention;     ///< of queries, keys and values: after the norm
  Activations mixed;         ///< of the attention's output
  Activations feed_forward;  ///< of gate and up: after the norm
  Activations activated;     ///< of down
};

class Calibration {
 public:
  static constexpr std::size_t most_tokens = 4096;
  static constexpr std::size_t window = 256;
  static constexpr std::size_t least_tokens = 16;

  /// The text's first `most_tokens` tokens, in windows that are read by themselves.
  /// AXLE_BAD_ARGUMENT for fewer than `least_tokens`. All arguments must stay.
  [[nodiscard]] static Result<Calibration> begin(Engine& engine, const ModelShape& shape,
                                                 const TensorSource& source,
                                                 std::span<const std::int32_t> tokens);

  /// Runs the next layer.
  [[nodiscard]] Result<LayerInputs> next_layer();

  /// After all layers: what enters the last linear layer.
  [[nodiscard]] Result<Activations> output_inputs() const { return normalise(Part::final_norm); }

 private:
  Calibration(Engine& engine, const ModelShape& shape, ModelTensors tensors, Rotary rotary)
      : engine_(&engine),
        shape_(&shape),
        tensors_(std::move(tensors)),
        rotary_(std::move(rotary)),
        attention_(shape) {}

  [[nodiscard]] Result<Activations> normalise(Part norm) const;
  [[nodiscard]] Result<Activations> multiply(Part part, std::size_t rows,
                                             const Activations& x) const;
  [[nodiscard]] Result<void> turn_heads(Activations& heads, Part norm, std::size_t count) const;
  [[nodiscard]] Result<Activations> attend(const Activations& queries, const Activations& keys,
                                           const Activations& values);
  [[nodiscard]] Result<void> add(Part part, const Activations& x);
  [[nodiscard]] const ModelSteps& steps() const { return *engine_->kernel_for(1).set->model; }

  Engine* engine_;
  const ModelShape* shape_;
  ModelTensors tensors_;
  Rotary rotary_;
  Attention attention_;
  std::size_t layer_ = 0;
  std::size_t window_ = window;
  Activations hidden_;  ///< what layers add to
};

}  // namespace axle::runtime
