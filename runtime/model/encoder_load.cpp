// Loading an encoder: which tensors make which layer.
#include <algorithm>

#include "runtime/model/description/required_tensors.h"
#include "runtime/model/description/tensor_names.h"
#include "runtime/model/encoder.h"
#include "runtime/model/layers/stored_rows.h"

namespace axle::runtime {

class Encoder::Loader {
 public:
  Loader(Engine& engine, const ModelShape& shape, const TensorSource& source, const ModelMode& mode,
         std::string prefix)
      : engine_(engine), shape_(shape), source_(source), mode_(mode), prefix_(std::move(prefix)) {}

  Result<Norm> norm(const std::string& name) const {
    Result<std::vector<float>> weight =
        require_vector(source_, prefix_ + name + ".weight", shape_.hidden);
    if (!weight) return std::unexpected(weight.error());
    Result<std::vector<float>> bias =
        require_vector(source_, prefix_ + name + ".bias", shape_.hidden);
    if (!bias) return std::unexpected(bias.error());
    return Norm{std::move(*weight), std::move(*bias)};
  }

  /// Layers of `rows` outputs each, one below the other.
  Result<Projection> projection(const std::vector<std::string>& names, std::size_t rows,
                                std::size_t columns) const {
    WeightRows weights(source_.where());
    std::vector<float> bias;
    for (const std::string& name : names) {
      const Result<LinearTensors> tensors = require_linear(
          source_, prefix_ + name, rows, columns, shape_.stored ? &*shape_.stored : nullptr);
      if (!tensors) return std::unexpected(tensors.error());
      weights.append(*tensors);
      const Result<std::vector<float>> own =
          require_vector(source_, prefix_ + name + ".bias", rows);
      if (!own) return std::unexpected(own.error());
      bias.insert(bias.end(), own->begin(), own->end());
    }
    return Projection::pack(engine_, mode_, weights, bias);
  }

  Result<const Tensor*> table(const std::string& name, std::size_t rows) const {
    return require_matrix(source_, prefix_ + name, rows, shape_.hidden);
  }

  Result<Layer> layer(std::size_t index) const {
    const std::string name = "encoder.layer." + std::to_string(index) + ".";
    const std::string self = name + "attention.self.";
    Result<Projection> heads = projection({self + "query", self + "key", self + "value"},
                                          shape_.query_width(), shape_.hidden);
    if (!heads) return std::unexpected(heads.error());
    Result<Projection> output =
        projection({name + "attention.output.dense"}, shape_.hidden, shape_.query_width());
    if (!output) return std::unexpected(output.error());
    Result<Norm> attention_norm = norm(name + "attention.output.LayerNorm");
    if (!attention_norm) return std::unexpected(attention_norm.error());
    Result<Projection> up =
        projection({name + "intermediate.dense"}, shape_.feed_forward, shape_.hidden);
    if (!up) return std::unexpected(up.error());
    Result<Projection> down =
        projection({name + "output.dense"}, shape_.hidden, shape_.feed_forward);
    if (!down) return std::unexpected(down.error());
    Result<Norm> output_norm = norm(name + "output.LayerNorm");
    if (!output_norm) return std::unexpected(output_norm.error());
    return Layer{std::move(*heads), std::move(*output), std::move(*attention_norm),
                 std::move(*up),    std::move(*down),   std::move(*output_norm)};
  }

 private:
  Engine& engine_;
  const ModelShape& shape_;
  const TensorSource& source_;
  const ModelMode& mode_;
  std::string prefix_;
};

Result<Encoder> Encoder::load(Engine& engine, const ModelShape& shape, const TensorSource& source,
                              const ModelMode& wanted, const LoadProgress& progress) {
  const Result<ModelMode> mode = choose_mode(shape, wanted.name, source.where());
  if (!mode) return std::unexpected(mode.error());
  const std::string words = "embeddings.word_embeddings.weight";
  const Loader loader(engine, shape, source, *mode, encoder_prefix(source));
  Encoder encoder(engine, shape, source.where());
  const Result<const Tensor*> table = loader.table(words, shape.vocabulary);
  if (!table) return std::unexpected(table.error());
  encoder.words_ = *table;
  const Result<const Tensor*> positions =
      loader.table("embeddings.position_embeddings.weight", shape.context);
  if (!positions) return std::unexpected(positions.error());
  encoder.positions_ = *positions;
  const Result<const Tensor*> types =
      loader.table("embeddings.token_type_embeddings.weight", shape.segments);
  if (!types) return std::unexpected(types.error());
  const std::size_t used = shape.classes == 1 ? 2 : 1;  // only a reranker reads pairs
  for (std::size_t i = 0; i < std::min(shape.segments, used); ++i) {
    encoder.types_.emplace_back(shape.hidden);
    const Result<void> type =
        read_finite_rows(**types, source.where(), i, 1, encoder.types_.back().data());
    if (!type) return std::unexpected(type.error());
  }
  Result<Norm> norm = loader.norm("embeddings.LayerNorm");
  if (!norm) return std::unexpected(norm.error());
  encoder.embedding_norm_ = std::move(*norm);
  if (shape.classes == 1) {
    Result<ScoreHead> head = ScoreHead::load(source, encoder_prefix(source), shape.hidden);
    if (!head) return std::unexpected(head.error());
    encoder.score_head_ = std::move(*head);
  }
  encoder.layers_.reserve(shape.layers);
  for (std::size_t i = 0; i < shape.layers; ++i) {
    Result<Layer> layer = loader.layer(i);
    if (!layer) return std::unexpected(layer.error());
    encoder.layers_.push_back(std::move(*layer));
    if (progress) progress(static_cast<double>(i + 1) / static_cast<double>(shape.layers));
  }
  return encoder;
}

}  // namespace axle::runtime
