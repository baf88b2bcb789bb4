// Loading a decoder: which tensors make which layer.
#include "runtime/model/decoder.h"
#include "runtime/model/description/tensor_names.h"
#include "runtime/model/layers/stored_rows.h"

namespace axle::runtime {
namespace {

/// Several matrices, one below the other, with their biases where one of them has one.
class Stack {
 public:
  Stack(const ModelTensors& tensors, std::size_t layer, std::size_t columns)
      : tensors_(tensors), layer_(layer), columns_(columns), weights_(tensors.where()) {}

  /// `head_depth` not zero: of rows in pairs.
  Result<void> append(Part part, std::size_t rows, std::size_t head_depth = 0) {
    const Result<LinearTensors> tensors = tensors_.linear(part, layer_, rows, columns_);
    if (!tensors) return std::unexpected(tensors.error());
    weights_.append(*tensors, head_depth);
    const Result<std::vector<float>> bias = tensors_.optional_vector(part, layer_, "bias", rows);
    if (!bias) return std::unexpected(bias.error());
    has_bias_ = has_bias_ || !bias->empty();
    for (std::size_t i = 0; i < rows; ++i)
      bias_.push_back(bias->empty() ? 0.0F : (*bias)[row_in_pairs(i, head_depth)]);
    return {};
  }

  [[nodiscard]] Result<Projection> pack(Engine& engine, const ModelMode& mode) {
    if (!has_bias_) bias_.clear();
    return Projection::pack(engine, mode, weights_, bias_);
  }

 private:
  const ModelTensors& tensors_;
  std::size_t layer_;
  std::size_t columns_;
  WeightRows weights_;
  std::vector<float> bias_;
  bool has_bias_ = false;
};

struct Slice {
  Part part;
  std::size_t rows;
  std::size_t head_depth = 0;
};

Result<Projection> load_stack(Engine& engine, const ModelTensors& tensors, const ModelMode& mode,
                              std::size_t layer, std::size_t columns,
                              std::initializer_list<Slice> slices) {
  Stack stack(tensors, layer, columns);
  for (const Slice& slice : slices) {
    const Result<void> appended = stack.append(slice.part, slice.rows, slice.head_depth);
    if (!appended) return std::unexpected(appended.error());
  }
  return stack.pack(engine, mode);
}

}  // namespace

Result<Decoder::Layer> Decoder::load_layer(Engine& engine, const ModelShape& shape,
                                           const ModelTensors& tensors, const ModelMode& mode,
                                           std::size_t index) {
  const std::size_t pairs = shape.interleaved_rotary ? shape.head_depth : 0;
  Result<std::vector<float>> attention_norm =
      tensors.vector(Part::attention_norm, index, "weight", shape.hidden);
  if (!attention_norm) return std::unexpected(attention_norm.error());
  Result<std::vector<float>> feed_forward_norm =
      tensors.vector(Part::feed_forward_norm, index, "weight", shape.hidden);
  if (!feed_forward_norm) return std::unexpected(feed_forward_norm.error());
  Result<std::vector<float>> query_norm =
      tensors.optional_vector(Part::query_norm, index, "weight", shape.head_depth);
  if (!query_norm) return std::unexpected(query_norm.error());
  Result<std::vector<float>> key_norm =
      tensors.optional_vector(Part::key_norm, index, "weight", shape.head_depth);
  if (!key_norm) return std::unexpected(key_norm.error());
  Result<Projection> heads = load_stack(engine, tensors, mode, index, shape.hidden,
                                        {{Part::query, shape.query_width(), pairs},
                                         {Part::key, shape.key_width(), pairs},
                                         {Part::value, shape.key_width()}});
  if (!heads) return std::unexpected(heads.error());
  Result<Projection> output = load_stack(engine, tensors, mode, index, shape.query_width(),
                                         {{Part::attention_output, shape.hidden}});
  if (!output) return std::unexpected(output.error());
  Result<Projection> gate_up =
      load_stack(engine, tensors, mode, index, shape.hidden,
                 {{Part::gate, shape.feed_forward}, {Part::up, shape.feed_forward}});
  if (!gate_up) return std::unexpected(gate_up.error());
  Result<Projection> down =
      load_stack(engine, tensors, mode, index, shape.feed_forward, {{Part::down, shape.hidden}});
  if (!down) return std::unexpected(down.error());
  return Layer{std::move(*attention_norm),    std::move(*query_norm), std::move(*key_norm),
               std::move(*feed_forward_norm), std::move(*heads),      std::move(*output),
               std::move(*gate_up),           std::move(*down)};
}

Result<Decoder> Decoder::load(Engine& engine, const ModelShape& shape, const TensorSource& source,
                              const ModelMode& wanted, const LoadProgress& progress) {
  const Result<ModelMode> mode = choose_mode(shape, wanted.name, source.where());
  if (!mode) return std::unexpected(mode.error());
  const Result<ModelTensors> tensors =
      ModelTensors::open(source, shape.stored ? &*shape.stored : nullptr);
  if (!tensors) return std::unexpected(tensors.error());
  const Result<const Tensor*> embedding =
      tensors->matrix(Part::embedding, 0, shape.vocabulary, shape.hidden);
  if (!embedding) return std::unexpected(embedding.error());
  const Result<std::vector<float>> factors =
      tensors->optional_vector(Part::rotary_factors, 0, "weight", shape.head_depth / 2);
  if (!factors) return std::unexpected(factors.error());
  Decoder decoder(engine, shape, source.where(), **embedding,
                  Rotary(shape.rotary, shape.head_depth, *factors));
  Result<std::vector<float>> norm = tensors->vector(Part::final_norm, 0, "weight", shape.hidden);
  if (!norm) return std::unexpected(norm.error());
  decoder.final_norm_ = std::move(*norm);
  const double parts = static_cast<double>(shape.layers) + 1;
  decoder.layers_.reserve(shape.layers);
  for (std::size_t i = 0; i < shape.layers; ++i) {
    Result<Layer> layer = load_layer(engine, shape, *tensors, *mode, i);
    if (!layer) return std::unexpected(layer.error());
    decoder.layers_.push_back(std::move(*layer));
    if (progress) progress(static_cast<double>(i + 1) / parts);
  }
  Result<Projection> output =
      load_stack(engine, *tensors, *mode, 0, shape.hidden,
                 {{shape.tied_embeddings ? Part::embedding : Part::output, shape.vocabulary}});
  if (!output) return std::unexpected(output.error());
  decoder.output_.push_back(std::move(*output));
  if (progress) progress(1);
  return decoder;
}

}  // namespace axle::runtime
