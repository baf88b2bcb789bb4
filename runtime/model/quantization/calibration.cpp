#include "runtime/model/quantization/calibration.h"

#include <algorithm>
#include <cmath>

namespace axle::runtime {
namespace {

Activations make_activations(std::size_t rows, std::size_t columns) {
  return {std::vector<float>(rows * columns), columns};
}

}  // namespace

Result<Calibration> Calibration::begin(Engine& engine, const ModelShape& shape,
                                       const TensorSource& source,
                                       std::span<const std::int32_t> tokens) {
  if (tokens.size() < least_tokens)
    return failure(AXLE_BAD_ARGUMENT,
                   "the calibration text has %zu tokens; it needs %zu, better some thousands",
                   tokens.size(), least_tokens);
  const Result<ModelTensors> tensors = ModelTensors::open(source);
  if (!tensors) return std::unexpected(tensors.error());
  const Result<std::vector<float>> factors =
      tensors->optional_vector(Part::rotary_factors, 0, "weight", shape.head_depth / 2);
  if (!factors) return std::unexpected(factors.error());
  const Result<const Tensor*> embedding =
      tensors->matrix(Part::embedding, 0, shape.vocabulary, shape.hidden);
  if (!embedding) return std::unexpected(embedding.error());
  Calibration calibration(engine, shape, *tensors,
                          Rotary(shape.rotary, shape.head_depth, *factors));
  calibration.window_ = std::min(window, shape.context);
  const std::size_t count = std::min(tokens.size(), most_tokens);
  calibration.hidden_ = make_activations(count, shape.hidden);
  const Result<void> known =
      check_tokens(shape, tokens.first(count), source.where(), "the calibration text");
  if (!known) return std::unexpected(known.error());
  for (std::size_t i = 0; i < count; ++i) {
    const Result<void> read =
        read_finite_rows(**embedding, source.where(), static_cast<std::size_t>(tokens[i]), 1,
                         calibration.hidden_.values.data() + i * shape.hidden);
    if (!read) return std::unexpected(read.error());
  }
  return calibration;
}

Result<Activations> Calibration::normalise(Part norm) const {
  const Result<std::vector<float>> weight = tensors_.vector(norm, layer_, "weight", shape_->hidden);
  if (!weight) return std::unexpected(weight.error());
  Activations y = make_activations(hidden_.rows(), shape_->hidden);
  for (std::size_t r = 0; r < y.rows(); ++r)
    steps().rms_norm(hidden_.row(r), weight->data(), shape_->hidden, shape_->norm_epsilon,
                     y.values.data() + r * shape_->hidden);
  return y;
}

Result<Activations> Calibration::multiply(Part part, std::size_t rows, const Activations& x) const {
  const Result<LinearTensors> tensors = tensors_.linear(part, layer_, rows, x.columns);
  if (!tensors) return std::unexpected(tensors.error());
  const bool turned = part == Part::query || part == Part::key;
  const std::size_t pairs = turned && shape_->interleaved_rotary ? shape_->head_depth : 0;
  WeightRows weights(tensors_.where());
  weights.append(*tensors, pairs);
  const Result<std::vector<float>> found = tensors_.optional_vector(part, layer_, "bias", rows);
  if (!found) return std::unexpected(found.error());
  std::vector<float> bias;
  for (std::size_t i = 0; i < found->size(); ++i) bias.push_back((*found)[row_in_pairs(i, pairs)]);
  Result<Projection> projection = Projection::pack(*engine_, *find_mode("float"), weights, bias);
  if (!projection) return std::unexpected(projection.error());
  Activations y = make_activations(x.rows(), rows);
  const Result<void> done =
      projection->forward({.x = x.values.data()}, x.rows(), {.y = y.values.data()});
  if (!done) return std::unexpected(done.error());
  return y;
}

/// Normalises (Qwen3) and turns.
Result<void> Calibration::turn_heads(Activations& heads, Part norm, std::size_t count) const {
  const std::size_t depth = shape_->head_depth;
  const Result<std::vector<float>> weight = tensors_.optional_vector(norm, layer_, "weight", depth);
  if (!weight) return std::unexpected(weight.error());
  std::vector<float> cosines(rotary_.pairs());
  std::vector<float> sines(rotary_.pairs());
  for (std::size_t r = 0; r < heads.rows(); ++r) {
    rotary_.angles(r % window_, cosines.data(), sines.data());
    for (std::size_t h = 0; h < count; ++h) {
      float* const head = heads.values.data() + r * heads.columns + h * depth;
      if (!weight->empty())
        steps().rms_norm(head, weight->data(), depth, shape_->norm_epsilon, head);
      steps().rotate(head, cosines.data(), sines.data(), rotary_.pairs());
    }
  }
  return {};
}

Result<Activations> Calibration::attend(const Activations& queries, const Activations& keys,
                                        const Activations& values) {
  const std::size_t depth = shape_->head_depth;
  const Result<void> reserved = attention_.reserve(1, window_);
  if (!reserved) return std::unexpected(reserved.error());
  PagePool pool({1, shape_->key_heads, depth, CacheForm::float32});
  Activations mixed = make_activations(queries.rows(), shape_->query_width());
  for (std::size_t first = 0; first < queries.rows(); first += window_) {
    const std::size_t count = std::min(window_, queries.rows() - first);
    Sequence sequence(pool);
    const Result<void> room = sequence.reserve(count);
    if (!room) return std::unexpected(room.error());
    for (std::size_t r = 0; r < count; ++r) {
      for (std::size_t h = 0; h < shape_->key_heads; ++h) {
        sequence.store_key(0, h, r, keys.row(first + r) + h * depth);
        sequence.store_value(0, h, r, values.row(first + r) + h * depth);
      }
    }
    for (std::size_t r = 0; r < count; r += Attention::most_rows) {
      for (std::size_t h = 0; h < shape_->key_heads; ++h)
        attention_.run(steps(),
                       {.sequence = &sequence,
                        .layer = 0,
                        .position = r,
                        .rows = std::min(Attention::most_rows, count - r),
                        .visible = 0,
                        .queries = queries.row(first + r),
                        .query_floats = queries.columns,
                        .out = mixed.values.data() + (first + r) * mixed.columns,
                        .out_floats = mixed.columns},
                       h, 0);
    }
  }
  return mixed;
}

Result<void> Calibration::add(Part part, const Activations& x) {
  const Result<Activations> y = multiply(part, shape_->hidden, x);
  if (!y) return std::unexpected(y.error());
  for (std::size_t i = 0; i < hidden_.values.size(); ++i) {
    hidden_.values[i] += y->values[i];
    if (!std::isfinite(hidden_.values[i]))
      return failure(AXLE_MALFORMED,
                     "%s: layer %zu: the model's numbers overflow: some of its weights are far too "
                     "large; fetch or convert the model again",
                     tensors_.where().c_str(), layer_);
  }
  return {};
}

Result<LayerInputs> Calibration::next_layer() {
  LayerInputs inputs;
  Result<Activations> x = normalise(Part::attention_norm);
  if (!x) return std::unexpected(x.error());
  inputs.attention = std::move(*x);
  Result<Activations> queries = multiply(Part::query, shape_->query_width(), inputs.attention);
  if (!queries) return std::unexpected(queries.error());
  Result<Activations> keys = multiply(Part::key, shape_->key_width(), inputs.attention);
  if (!keys) return std::unexpected(keys.error());
  const Result<Activations> values = multiply(Part::value, shape_->key_width(), inputs.attention);
  if (!values) return std::unexpected(values.error());
  Result<void> done = turn_heads(*queries, Part::query_norm, shape_->heads);
  if (done) done = turn_heads(*keys, Part::key_norm, shape_->key_heads);
  if (!done) return std::unexpected(done.error());
  x = attend(*queries, *keys, *values);
  if (!x) return std::unexpected(x.error());
  inputs.mixed = std::move(*x);
  done = add(Part::attention_output, inputs.mixed);
  if (!done) return std::unexpected(done.error());

  x = normalise(Part::feed_forward_norm);
  if (!x) return std::unexpected(x.error());
  inputs.feed_forward = std::move(*x);
  const Result<Activations> gate = multiply(Part::gate, shape_->feed_forward, inputs.feed_forward);
  if (!gate) return std::unexpected(gate.error());
  const Result<Activations> up = multiply(Part::up, shape_->feed_forward, inputs.feed_forward);
  if (!up) return std::unexpected(up.error());
  inputs.activated = make_activations(hidden_.rows(), shape_->feed_forward);
  for (std::size_t r = 0; r < hidden_.rows(); ++r)
    steps().silu_multiply(gate->row(r), up->row(r), shape_->feed_forward,
                          inputs.activated.values.data() + r * shape_->feed_forward);
  done = add(Part::down, inputs.activated);
  if (!done) return std::unexpected(done.error());
  ++layer_;
  return inputs;
}

}  // namespace axle::runtime
