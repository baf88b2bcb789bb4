#include "runtime/model/quantization/encoder_calibration.h"

#include <algorithm>
#include <cmath>

#include "runtime/forward/row_source.h"
#include "runtime/model/description/required_tensors.h"
#include "runtime/model/description/tensor_names.h"

namespace axle::runtime {

/// The text in windows, each with the first and the last token around it.
void EncoderCalibration::divide(std::span<const std::int32_t> tokens) {
  const std::size_t room = std::min(Calibration::window, shape_->context) - 2;
  const auto inner = tokens.subspan(1, tokens.size() - 2);
  const std::size_t count = std::min(inner.size(), Calibration::most_tokens);
  for (std::size_t first = 0; first < count; first += room) {
    windows_.push_back(tokens_.size());
    tokens_.push_back(tokens.front());
    const auto own = inner.subspan(first, std::min(room, count - first));
    tokens_.insert(tokens_.end(), own.begin(), own.end());
    tokens_.push_back(tokens.back());
  }
  windows_.push_back(tokens_.size());
}

Result<EncoderCalibration> EncoderCalibration::begin(Engine& engine, const ModelShape& shape,
                                                     const TensorSource& source,
                                                     std::span<const std::int32_t> tokens) {
  if (tokens.size() < Calibration::least_tokens)
    return failure(AXLE_BAD_ARGUMENT,
                   "the calibration text has %zu tokens; it needs %zu, better some thousands",
                   tokens.size(), Calibration::least_tokens);
  if (shape.context < 3)
    return failure(AXLE_UNSUPPORTED, "%s: a context of %zu tokens is too short for a text",
                   source.where().c_str(), shape.context);
  EncoderCalibration calibration(engine, shape, source);
  calibration.prefix_ = encoder_prefix(source);
  calibration.divide(tokens);
  const Result<void> known =
      check_tokens(shape, calibration.tokens_, source.where(), "the calibration text");
  if (!known) return std::unexpected(known.error());
  const Result<void> found = calibration.look_up();
  if (!found) return std::unexpected(found.error());
  return calibration;
}

Result<void> EncoderCalibration::look_up() {
  const std::size_t width = shape_->hidden;
  const std::string start = prefix_ + "embeddings.";
  const Result<const Tensor*> words =
      require_matrix(*source_, start + "word_embeddings.weight", shape_->vocabulary, width);
  if (!words) return std::unexpected(words.error());
  const Result<const Tensor*> positions =
      require_matrix(*source_, start + "position_embeddings.weight", shape_->context, width);
  if (!positions) return std::unexpected(positions.error());
  const Result<const Tensor*> types =
      require_matrix(*source_, start + "token_type_embeddings.weight", shape_->segments, width);
  if (!types) return std::unexpected(types.error());
  hidden_ = {std::vector<float>(tokens_.size() * width), width};
  std::vector<float> type(width);
  std::vector<float> position(width);
  Result<void> read = read_finite_rows(**types, source_->where(), 0, 1, type.data());
  for (std::size_t w = 0; w + 1 < windows_.size(); ++w) {
    for (std::size_t i = windows_[w]; read && i < windows_[w + 1]; ++i) {
      float* const row = hidden_.values.data() + i * width;
      read =
          read_finite_rows(**words, source_->where(), static_cast<std::size_t>(tokens_[i]), 1, row);
      if (read)
        read = read_finite_rows(**positions, source_->where(), i - windows_[w], 1, position.data());
      steps().add(type.data(), width, row);
      steps().add(position.data(), width, row);
    }
  }
  return read ? normalise("embeddings.LayerNorm") : read;
}

Result<void> EncoderCalibration::normalise(const std::string& name) {
  const std::size_t width = shape_->hidden;
  const Result<std::vector<float>> weight =
      require_vector(*source_, prefix_ + name + ".weight", width);
  if (!weight) return std::unexpected(weight.error());
  const Result<std::vector<float>> bias = require_vector(*source_, prefix_ + name + ".bias", width);
  if (!bias) return std::unexpected(bias.error());
  for (std::size_t r = 0; r < hidden_.rows(); ++r) {
    float* const row = hidden_.values.data() + r * width;
    steps().layer_norm(row, weight->data(), bias->data(), width, shape_->norm_epsilon, row);
    if (!std::all_of(row, row + width, [](float value) { return std::isfinite(value); }))
      return failure(AXLE_MALFORMED,
                     "%s: layer %zu: the model's numbers overflow: some of its weights are far too "
                     "large; fetch or convert the model again",
                     source_->where().c_str(), layer_);
  }
  return {};
}

Result<Activations> EncoderCalibration::multiply(const std::string& name, std::size_t rows,
                                                 const Activations& x) const {
  const Result<LinearTensors> tensors =
      require_linear(*source_, prefix_ + name, rows, x.columns, nullptr);
  if (!tensors) return std::unexpected(tensors.error());
  const Result<std::vector<float>> bias = require_vector(*source_, prefix_ + name + ".bias", rows);
  if (!bias) return std::unexpected(bias.error());
  WeightRows weights(source_->where());
  weights.append(*tensors);
  Result<Projection> projection = Projection::pack(*engine_, *find_mode("float"), weights, *bias);
  if (!projection) return std::unexpected(projection.error());
  Activations y{std::vector<float>(x.rows() * rows), rows};
  const Result<void> done =
      projection->forward({.x = x.values.data()}, x.rows(), {.y = y.values.data()});
  if (!done) return std::unexpected(done.error());
  return y;
}

/// Adds the layer's output to what it was made of, and normalises.
Result<void> EncoderCalibration::add(const std::string& linear, const std::string& norm,
                                     const Activations& x) {
  const Result<Activations> y = multiply(linear, shape_->hidden, x);
  if (!y) return std::unexpected(y.error());
  for (std::size_t i = 0; i < hidden_.values.size(); ++i) hidden_.values[i] += y->values[i];
  return normalise(norm);
}

Result<Activations> EncoderCalibration::attend(const std::string& layer, const Activations& x) {
  const std::size_t width = shape_->query_width();
  const std::size_t depth = shape_->head_depth;
  const Result<Activations> queries = multiply(layer + "attention.self.query", width, x);
  if (!queries) return std::unexpected(queries.error());
  const Result<Activations> keys = multiply(layer + "attention.self.key", width, x);
  if (!keys) return std::unexpected(keys.error());
  const Result<Activations> values = multiply(layer + "attention.self.value", width, x);
  if (!values) return std::unexpected(values.error());
  const Result<void> reserved = attention_.reserve(1, Calibration::window);
  if (!reserved) return std::unexpected(reserved.error());
  PagePool pool({1, shape_->heads, depth, CacheForm::float32});
  Activations mixed{std::vector<float>(x.rows() * width), width};
  for (std::size_t w = 0; w + 1 < windows_.size(); ++w) {
    const std::size_t first = windows_[w];
    const std::size_t count = windows_[w + 1] - first;
    Sequence sequence(pool);
    const Result<void> room = sequence.reserve(count);
    if (!room) return std::unexpected(room.error());
    for (std::size_t i = 0; i < count * shape_->heads; ++i) {
      const std::size_t head = i % shape_->heads;
      const std::size_t r = i / shape_->heads;
      sequence.store_key(0, head, r, keys->row(first + r) + head * depth);
      sequence.store_value(0, head, r, values->row(first + r) + head * depth);
    }
    for (std::size_t r = 0; r < count; r += Attention::most_rows) {
      for (std::size_t head = 0; head < shape_->heads; ++head)
        attention_.run(steps(),
                       {.sequence = &sequence,
                        .layer = 0,
                        .position = r,
                        .rows = std::min(Attention::most_rows, count - r),
                        .visible = count,
                        .queries = queries->row(first + r),
                        .query_floats = width,
                        .out = mixed.values.data() + (first + r) * width,
                        .out_floats = width},
                       head, 0);
    }
  }
  return mixed;
}

Result<LayerInputs> EncoderCalibration::next_layer() {
  const std::string layer = "encoder.layer." + std::to_string(layer_) + ".";
  LayerInputs inputs;
  inputs.attention = hidden_;
  Result<Activations> mixed = attend(layer, inputs.attention);
  if (!mixed) return std::unexpected(mixed.error());
  inputs.mixed = std::move(*mixed);
  Result<void> done =
      add(layer + "attention.output.dense", layer + "attention.output.LayerNorm", inputs.mixed);
  if (!done) return std::unexpected(done.error());
  inputs.feed_forward = hidden_;
  const Result<Activations> up =
      multiply(layer + "intermediate.dense", shape_->feed_forward, inputs.feed_forward);
  if (!up) return std::unexpected(up.error());
  inputs.activated = {std::vector<float>(up->values.size()), shape_->feed_forward};
  for (std::size_t r = 0; r < up->rows(); ++r)
    make_row({.x = up->values.data(), .kind = RowSource::Kind::gelu}, steps(), r,
             shape_->feed_forward, inputs.activated.values.data() + r * shape_->feed_forward);
  done = add(layer + "output.dense", layer + "output.LayerNorm", inputs.activated);
  if (!done) return std::unexpected(done.error());
  ++layer_;
  return inputs;
}

}  // namespace axle::runtime
