#pragma once
// What enters the linear layers of an encoder while it reads a text, in float32, a layer at a time.

#include <span>
#include <string>
#include <vector>

#include "runtime/engine.h"
#include "runtime/files/tensor_source.h"
#include "runtime/model/description/model_shape.h"
#include "runtime/model/layers/attention.h"
#include "runtime/model/quantization/calibration.h"
#include "runtime/result.h"

namespace axle::runtime {

class EncoderCalibration {
 public:
  /// `tokens` of the text, between the two that the tokenizer puts around it ([CLS], [SEP]), which
  /// are put around each window, too. As Calibration::begin has it.
  [[nodiscard]] static Result<EncoderCalibration> begin(Engine& engine, const ModelShape& shape,
                                                        const TensorSource& source,
                                                        std::span<const std::int32_t> tokens);

  /// Runs the next layer.
  [[nodiscard]] Result<LayerInputs> next_layer();

 private:
  EncoderCalibration(Engine& engine, const ModelShape& shape, const TensorSource& source)
      : engine_(&engine), shape_(&shape), source_(&source), attention_(shape) {}

  void divide(std::span<const std::int32_t> tokens);
  [[nodiscard]] Result<void> look_up();
  [[nodiscard]] Result<Activations> multiply(const std::string& name, std::size_t rows,
                                             const Activations& x) const;
  [[nodiscard]] Result<Activations> attend(const std::string& layer, const Activations& x);
  [[nodiscard]] Result<void> add(const std::string& linear, const std::string& norm,
                                 const Activations& x);
  [[nodiscard]] Result<void> normalise(const std::string& name);
  [[nodiscard]] const ModelSteps& steps() const { return *engine_->kernel_for(1).set->model; }

  Engine* engine_;
  const ModelShape* shape_;
  const TensorSource* source_;
  std::string prefix_;
  Attention attention_;
  std::vector<std::int32_t> tokens_;
  std::vector<std::size_t> windows_;  ///< where each begins; the last: the end
  std::size_t layer_ = 0;
  Activations hidden_;
};

}  // namespace axle::runtime
