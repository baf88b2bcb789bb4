#pragma once
// An encoder of the BERT family: a vector for a text.

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "runtime/engine.h"
#include "runtime/files/tensor_source.h"
#include "runtime/model/decoder.h"
#include "runtime/model/description/model_shape.h"
#include "runtime/model/layers/attention.h"
#include "runtime/model/layers/key_value_cache.h"
#include "runtime/model/layers/projection.h"
#include "runtime/result.h"

namespace axle::runtime {

/// How the vectors of a text's tokens become one.
struct Pooling {
  enum class Kind : std::uint8_t { mean, first } kind = Kind::mean;  ///< `first`: that of [CLS]
  bool normalised = false;                                           ///< to length 1
};

class Encoder {
 public:
  [[nodiscard]] static Result<Encoder> load(Engine& engine, const ModelShape& shape,
                                            const TensorSource& source, const ModelMode& mode,
                                            const LoadProgress& progress);

  /// [hidden] for each text of 1 to `shape.context` tokens; the same vector, bit for bit, whichever
  /// other texts there are. AXLE_MALFORMED if the model's numbers are not finite.
  [[nodiscard]] Result<std::vector<std::vector<float>>> embed(
      std::span<const std::vector<std::int32_t>> texts, const Pooling& pooling);

  [[nodiscard]] const ModelShape& shape() const { return shape_; }
  [[nodiscard]] std::size_t weight_bytes() const;
  /// The quantised layers, in the order in which they run.
  [[nodiscard]] std::vector<Linear*> linears() const;

 private:
  struct Norm {
    std::vector<float> weight;
    std::vector<float> bias;
  };
  struct Layer {
    Projection query_key_value;
    Projection attention_output;
    Norm attention_norm;
    Projection up;
    Projection down;
    Norm output_norm;
  };
  /// A text's rows in the buffers.
  struct Rows {
    std::size_t first;
    std::size_t count;
    Sequence sequence;
  };
  class Loader;

  Encoder(Engine& engine, const ModelShape& shape, const std::string& where)
      : engine_(&engine), shape_(shape), where_(where), attention_(shape) {}

  [[nodiscard]] Result<void> look_up(std::span<const std::int32_t> tokens, float* hidden);
  [[nodiscard]] Result<void> run(std::vector<Rows>& texts, std::size_t rows, float* hidden);
  [[nodiscard]] Result<void> run_layer(Layer& layer, std::vector<Rows>& texts, std::size_t rows,
                                       float* hidden);
  void attend(std::vector<Rows>& texts, const float* heads, float* mixed);
  void normalise(const Norm& norm, std::size_t rows, float* hidden);
  [[nodiscard]] const ModelSteps& steps() { return *engine_->kernel_for(1).set->model; }

  Engine* engine_;
  ModelShape shape_;
  std::string where_;  ///< the file or folder, for errors
  Attention attention_;
  const Tensor* words_ = nullptr;
  const Tensor* positions_ = nullptr;
  std::vector<float> type_;  ///< of the first segment, which all tokens are of
  Norm embedding_norm_;
  std::vector<Layer> layers_;
  std::vector<float> heads_;
  std::vector<float> mixed_;
  std::vector<float> raised_;
};

}  // namespace axle::runtime
