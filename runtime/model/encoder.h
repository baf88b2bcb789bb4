#pragma once
// An encoder of the BERT family: a vector for a text, or a reranker's score for two.

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
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
#include "runtime/model/layers/score_head.h"
#include "runtime/result.h"
#include "runtime/tokenizer/tokenizer.h"

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

  /// How well the two texts of each pair belong together: the model's own number ("logit"), higher
  /// is better; the same one, bit for bit, whichever other pairs there are. Errors as embed();
  /// AXLE_UNSUPPORTED if the model is no reranker.
  [[nodiscard]] Result<std::vector<float>> score(std::span<const TokenPair> pairs);

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
  /// Tokens that are read together.
  struct Input {
    std::span<const std::int32_t> tokens;
    std::size_t second;  ///< where the second segment begins
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

  /// Calls `use` with the rows of each text after the last layer, in their order; `kind` ("text")
  /// names them in errors.
  [[nodiscard]] Result<void> read(
      std::span<const Input> texts, const char* kind,
      const std::function<void(const float* rows, std::size_t count)>& use);
  [[nodiscard]] Result<void> check(const Input& text, const std::string& name) const;
  [[nodiscard]] Result<void> check_finite(std::span<const float> values) const;
  [[nodiscard]] Result<void> look_up(const Input& text, float* hidden);
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
  /// Of the first segment, and of the second where there is one: [hidden] each.
  std::vector<std::vector<float>> types_;
  Norm embedding_norm_;
  std::vector<Layer> layers_;
  std::optional<ScoreHead> score_head_;
  std::vector<float> heads_;
  std::vector<float> mixed_;
  std::vector<float> raised_;
};

}  // namespace axle::runtime
