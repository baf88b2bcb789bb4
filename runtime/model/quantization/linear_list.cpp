#include "runtime/model/quantization/linear_list.h"

#include <algorithm>

namespace axle::runtime {
namespace {

/// Collects; the first thing that is wrong is kept.
class DecoderLister {
 public:
  DecoderLister(const ModelShape& shape, const ModelTensors& tensors)
      : shape_(shape), tensors_(tensors) {}

  Result<ModelContent> list() {
    const Result<const Tensor*> embedding =
        tensors_.matrix(Part::embedding, 0, shape_.vocabulary, shape_.hidden);
    if (!embedding) return std::unexpected(embedding.error());
    content_.kept.emplace_back(folder_name(Part::embedding, 0) + ".weight", *embedding);
    optional_vector(Part::rotary_factors, 0, shape_.head_depth / 2);
    for (std::size_t i = 0; i < shape_.layers && !problem_; ++i) list_layer(i);
    vector(Part::final_norm, 0, shape_.hidden);
    linear(Part::output, 0, shape_.vocabulary, shape_.hidden);
    if (problem_) return std::unexpected(*problem_);
    return std::move(content_);
  }

 private:
  void list_layer(std::size_t i) {
    const std::size_t pairs = shape_.interleaved_rotary ? shape_.head_depth : 0;
    vector(Part::attention_norm, i, shape_.hidden);
    linear(Part::query, i, shape_.query_width(), shape_.hidden, pairs);
    linear(Part::key, i, shape_.key_width(), shape_.hidden, pairs);
    linear(Part::value, i, shape_.key_width(), shape_.hidden);
    linear(Part::attention_output, i, shape_.hidden, shape_.query_width());
    optional_vector(Part::query_norm, i, shape_.head_depth);
    optional_vector(Part::key_norm, i, shape_.head_depth);
    vector(Part::feed_forward_norm, i, shape_.hidden);
    linear(Part::gate, i, shape_.feed_forward, shape_.hidden);
    linear(Part::up, i, shape_.feed_forward, shape_.hidden);
    linear(Part::down, i, shape_.hidden, shape_.feed_forward);
  }

  void fail(const Failure& failure) {
    if (!problem_) problem_ = failure;
  }

  void optional_vector(Part part, std::size_t layer, std::size_t length) {
    if (tensors_.find(part, layer, "weight") != nullptr) vector(part, layer, length);
  }

  void vector(Part part, std::size_t layer, std::size_t length, const char* what = "weight",
              std::size_t pairs = 0) {
    Result<std::vector<float>> values = tensors_.vector(part, layer, what, length);
    if (!values) return fail(values.error());
    std::vector<float> ordered(length);
    for (std::size_t i = 0; i < length; ++i) ordered[i] = (*values)[row_in_pairs(i, pairs)];
    content_.vectors.push_back({folder_name(part, layer) + "." + what, std::move(ordered)});
  }

  void linear(Part part, std::size_t layer, std::size_t rows, std::size_t columns,
              std::size_t pairs = 0) {
    const bool tied = part == Part::output && shape_.tied_embeddings;
    const Result<LinearTensors> found =
        tensors_.linear(tied ? Part::embedding : part, layer, rows, columns);
    if (!found) return fail(found.error());
    const std::string name = folder_name(part, layer);
    LinearLayer linear{name, name.substr(name.rfind('.') + 1), WeightRows(tensors_.where())};
    linear.weights.append(*found, pairs);
    content_.linears.push_back(std::move(linear));
    if (!tied && tensors_.find(part, layer, "bias") != nullptr)
      vector(part, layer, rows, "bias", pairs);
  }

  const ModelShape& shape_;
  const ModelTensors& tensors_;
  ModelContent content_;
  std::optional<Failure> problem_;
};

struct DenseLayer {
  const char* name;
  const char* kind;
  std::size_t ModelShape::* rows;
  std::size_t ModelShape::* columns;
};

constexpr DenseLayer dense_layers[] = {
    {"attention.self.query", "query", &ModelShape::hidden, &ModelShape::hidden},
    {"attention.self.key", "key", &ModelShape::hidden, &ModelShape::hidden},
    {"attention.self.value", "value", &ModelShape::hidden, &ModelShape::hidden},
    {"attention.output.dense", "attention.output", &ModelShape::hidden, &ModelShape::hidden},
    {"intermediate.dense", "intermediate", &ModelShape::feed_forward, &ModelShape::hidden},
    {"output.dense", "output", &ModelShape::hidden, &ModelShape::feed_forward}};

Result<ModelContent> list_encoder(const ModelShape& shape, const TensorSource& source) {
  ModelContent content;
  const std::string prefix = encoder_prefix(source);
  for (std::size_t i = 0; i < shape.layers; ++i) {
    for (const DenseLayer& dense : dense_layers) {
      const std::string name = prefix + "encoder.layer." + std::to_string(i) + "." + dense.name;
      const Result<LinearTensors> found =
          require_linear(source, name, shape.*dense.rows, shape.*dense.columns, nullptr);
      if (!found) return std::unexpected(found.error());
      LinearLayer linear{name, dense.kind, WeightRows(source.where())};
      linear.weights.append(*found);
      content.linears.push_back(std::move(linear));
    }
  }
  for (const Tensor& tensor : source.tensors()) {
    const auto owner =
        std::find_if(content.linears.begin(), content.linears.end(),
                     [&](const auto& one) { return tensor.name.starts_with(one.name + "."); });
    const bool is_linear = owner != content.linears.end() && tensor.name == owner->name + ".weight";
    // What AWQ divides.
    const bool is_bias = owner != content.linears.end() && tensor.name == owner->name + ".bias" &&
                         owner->kind == "value";
    if (is_bias) {
      Result<std::vector<float>> values = require_vector(source, tensor.name, shape.hidden);
      if (!values) return std::unexpected(values.error());
      content.vectors.push_back({tensor.name, std::move(*values)});
    } else if (!is_linear) {
      content.kept.emplace_back(tensor.name, &tensor);
    }
  }
  return content;
}

}  // namespace

Result<ModelContent> list_content(const ModelShape& shape, const TensorSource& source) {
  if (shape.stored)
    return failure(AXLE_UNSUPPORTED,
                   "%s: the weights are quantised already, to mode %s; quantise the original model",
                   source.where().c_str(), shape.stored->mode.c_str());
  if (shape.architecture == Architecture::encoder) return list_encoder(shape, source);
  const Result<ModelTensors> tensors = ModelTensors::open(source);
  if (!tensors) return std::unexpected(tensors.error());
  return DecoderLister(shape, *tensors).list();
}

Result<void> read_folded(const LinearLayer& layer, std::size_t first, std::size_t count,
                         float* to) {
  const Result<void> read = layer.weights.read(first, count, to);
  if (!read) return read;
  const std::size_t columns = layer.weights.columns();
  const Folding& folding = layer.folding;
  for (std::size_t r = 0; r < count; ++r) {
    float* const row = to + r * columns;
    for (std::size_t i = 0; i < columns && !folding.columns.empty(); ++i)
      row[i] *= folding.columns[i];
    for (std::size_t i = 0; i < columns && !folding.rows.empty(); ++i)
      row[i] /= folding.rows[first + r];
  }
  return {};
}

}  // namespace axle::runtime
