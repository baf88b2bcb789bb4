#pragma once
// A decoder of the Llama family: Llama, Mistral, Qwen2 and Qwen3 with dense layers.

#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <vector>

#include "runtime/engine.h"
#include "runtime/files/tensor_source.h"
#include "runtime/model/description/model_shape.h"
#include "runtime/model/layers/attention.h"
#include "runtime/model/layers/key_value_cache.h"
#include "runtime/model/layers/projection.h"
#include "runtime/model/layers/rotary.h"
#include "runtime/result.h"

namespace axle::runtime {

/// Tokens that continue a sequence.
struct Continuation {
  Sequence* sequence;
  std::span<const std::int32_t> tokens;  ///< at least one
  float* logits;                         ///< out: [wanted][vocabulary], or null
  std::size_t wanted = 1;                ///< of the last tokens, with `logits`
};

/// Told how much of a model is loaded, 0 to 1.
using LoadProgress = std::function<void(double part)>;

class Decoder {
 public:
  /// Tokens of all continuations of one call of `forward`.
  static constexpr std::size_t most_tokens = 512;

  /// Quantises and packs; `source` stays open, embeddings are read from it.
  [[nodiscard]] static Result<Decoder> load(Engine& engine, const ModelShape& shape,
                                            const TensorSource& source, const ModelMode& mode,
                                            const LoadProgress& progress);

  /// The same logits, bit for bit, however tokens are divided into calls and whatever else is in a
  /// call. Tokens must be below the vocabulary's size. AXLE_MALFORMED if the embedding of one is
  /// not finite, AXLE_IO if the file no longer has it. On an error no sequence has grown.
  [[nodiscard]] Result<void> forward(std::span<const Continuation> continuations);

  [[nodiscard]] const ModelShape& shape() const { return shape_; }
  [[nodiscard]] Engine& engine() const { return *engine_; }
  /// The file or folder, for errors.
  [[nodiscard]] const std::string& where() const { return where_; }
  [[nodiscard]] CacheShape cache_shape(CacheForm form) const;
  [[nodiscard]] std::size_t weight_bytes() const;
  /// The quantised layers, in the order in which they run.
  [[nodiscard]] std::vector<Linear*> linears() const;

 private:
  struct Layer {
    std::vector<float> attention_norm;
    std::vector<float> query_norm;  ///< of Qwen3, else empty
    std::vector<float> key_norm;
    std::vector<float> feed_forward_norm;
    Projection query_key_value;  ///< one after the other
    Projection attention_output;
    Projection gate_up;
    Projection down;
  };

  /// One token of a call.
  struct Row {
    Sequence* sequence;
    std::size_t position;
    std::int32_t token;
  };
  /// Up to Attention::most_rows rows of one sequence, one after the other.
  struct RowBlock {
    std::size_t row;
    std::size_t rows;
    std::size_t out;  ///< row of what the attention mixes for the first
  };
  struct Buffers;

  Decoder(Engine& engine, const ModelShape& shape, const std::string& where,
          const Tensor& embedding, Rotary rotary)
      : engine_(&engine),
        shape_(shape),
        where_(where),
        embedding_(&embedding),
        rotary_(std::move(rotary)),
        attention_(shape) {}

  [[nodiscard]] static Result<Layer> load_layer(Engine& engine, const ModelShape& shape,
                                                const class ModelTensors& tensors,
                                                const ModelMode& mode, std::size_t index);

  [[nodiscard]] Result<void> take_rows(std::span<const Continuation> continuations);
  /// Keys and values of all rows.
  [[nodiscard]] Result<void> take_heads(std::size_t layer, const Buffers& buffers);
  /// The rest of a layer, for the rows of `blocks_`, `rows` in all.
  [[nodiscard]] Result<void> finish_layer(std::size_t layer, std::size_t rows,
                                          const Buffers& buffers);
  [[nodiscard]] std::size_t keep_wanted(std::span<const Continuation> continuations,
                                        const Buffers& buffers);
  [[nodiscard]] RowSource normalised(const float* x, const std::vector<float>& weight) const;
  void prepare_heads(std::size_t layer, std::size_t row, const Buffers& buffers);
  void attend(std::size_t layer, const Buffers& buffers);
  [[nodiscard]] float* logits_together(std::span<const Continuation> continuations) const;
  [[nodiscard]] Result<void> project_logits(std::span<const Continuation> continuations,
                                            std::size_t wanted, const Buffers& buffers);
  [[nodiscard]] const ModelSteps& steps() { return *engine_->kernel_for(1).set->model; }

  Engine* engine_;
  ModelShape shape_;
  std::string where_;
  const Tensor* embedding_;
  Rotary rotary_;
  Attention attention_;
  std::vector<Layer> layers_;
  std::vector<float> final_norm_;
  std::vector<Projection> output_;  ///< one

  std::vector<Row> rows_;  ///< of the call that runs
  std::vector<RowBlock> blocks_;
  Memory memory_;
};

}  // namespace axle::runtime
