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
    std::vector<float> bias(rows, 0.0F);
    if (tensors_.find(part, layer_, "bias") != nullptr) {
      Result<std::vector<float>> found = tensors_.vector(part, layer_, "bias", rows);
      if (!found) return std::unexpected(found.error());
      bias = head_depth > 0 ? half_apart(*found, head_depth) : std::move(*found);
      has_bias_ = true;
    }
    bias_.insert(bias_.end(), bias.begin(), bias.end());
    return {};
  }

  [[nodiscard]] Result<Projection> pack(Engine& engine, const ModelMode& mode) {
    if (!has_bias_) bias_.clear();
    return Projection::pack(engine, mode, weights_, bias_);
  }

 private:
  /// As WeightRows takes rows in pairs.
  static std::vector<float> half_apart(const std::vector<float>& bias, std::size_t depth) {
    std::vector<float> result(bias.size());
    for (std::size_t i = 0; i < bias.size(); ++i) {
      const std::size_t in_head = i % depth;
      const std::size_t half = depth / 2;
      result[i] = bias[i - in_head + (in_head < half ? 2 * in_head : 2 * (in_head - half) + 1)];
    }
    return result;
  }

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

/// A norm that not every model has: empty where it is absent.
Result<std::vector<float>> optional_norm(const ModelTensors& tensors, Part part, std::size_t layer,
                                         std::size_t length) {
  if (tensors.find(part, layer, "weight") == nullptr) return std::vector<float>();
  return tensors.vector(part, layer, "weight", length);
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
      optional_norm(tensors, Part::query_norm, index, shape.head_depth);
  if (!query_norm) return std::unexpected(query_norm.error());
  Result<std::vector<float>> key_norm =
      optional_norm(tensors, Part::key_norm, index, shape.head_depth);
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
  std::vector<float> factors;
  if (tensors->find(Part::rotary_factors, 0, "weight") != nullptr) {
    Result<std::vector<float>> found =
        tensors->vector(Part::rotary_factors, 0, "weight", shape.head_depth / 2);
    if (!found) return std::unexpected(found.error());
    factors = std::move(*found);
  }
  Decoder decoder(engine, shape, **embedding, Rotary(shape.rotary, shape.head_depth, factors));
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
