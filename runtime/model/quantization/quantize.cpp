#include "runtime/model/quantization/quantize.h"

#include <algorithm>
#include <cmath>
#include <new>

#include "runtime/files/atomic_folder.h"
#include "runtime/files/safetensors_writer.h"
#include "runtime/half.h"
#include "runtime/model/quantization/awq.h"
#include "runtime/model/quantization/kept_tensor.h"
#include "runtime/model/quantization/model_files.h"

namespace axle::runtime {

/// One model on its way through a scheme, some rows of weights at a time.
class ModelQuantizer {
 public:
  ModelQuantizer(Engine& engine, const Model& model, const QuantizationTask& task)
      : engine_(engine), model_(model), task_(task), scheme_(task.scheme), report_(scheme_) {}

  Result<void> prepare() {
    const ModelShape& shape = model_.shape();
    Result<ModelContent> content = list_content(shape, model_.tensors());
    if (!content) return std::unexpected(content.error());
    content_ = std::move(*content);
    for (const LinearLayer& layer : content_.linears)
      weights_ += layer.weights.rows() * layer.weights.columns();
    for (const auto& [name, tensor] : content_.kept) {
      Result<KeptTensor> kept = KeptTensor::plan(name, *tensor, model_.tensors().where());
      if (!kept) return std::unexpected(kept.error());
      if (kept->is_converted())
        report_.converted.push_back({{name, kept->error(), kept->size()}, row(kept->type()).name});
      kept_.push_back(std::move(*kept));
    }
    if (scheme_.method() != ScaleMethod::awq) return {};
    return fold_activations(engine_, shape, model_.tensors(), task_.calibration, scheme_,
                            task_.on_calibration, content_);
  }

  Result<QuantizationReport> write(const std::string& path, const std::string& folder) {
    Result<AtomicFolder> place = AtomicFolder::create(folder);
    if (!place) return std::unexpected(place.error());
    Result<void> done = write_model_files(model_, path, scheme_, place->partial());
    if (!done) return std::unexpected(done.error());
    const std::vector<TensorToWrite> tensors = list_tensors();
    constexpr std::uint64_t shard_bytes = std::uint64_t{4} << 30U;
    done = write_safetensors_folder(place->partial(), tensors, {{"format", "pt"}}, shard_bytes);
    if (!done) return std::unexpected(done.error());
    done = place->publish();
    if (!done) return std::unexpected(done.error());
    return std::move(report_);
  }

  Result<QuantizationReport> measure() {
    const auto drop = [](std::span<const std::byte>) -> Result<void> { return {}; };
    for (const LinearLayer& layer : content_.linears) {
      const Result<void> done = write_weights(layer, drop);
      if (!done) return std::unexpected(done.error());
    }
    return std::move(report_);
  }

 private:
  /// A layer's scales follow its weights, which make them.
  std::vector<TensorToWrite> list_tensors() {
    std::vector<TensorToWrite> tensors;
    for (const KeptTensor& one : kept_) tensors.push_back(one.to_write());
    for (const PlainVector& one : content_.vectors)
      tensors.push_back(
          {one.name, TensorType::float32, {one.values.size()}, [&one](const PutBytes& put) {
             return put(std::as_bytes(std::span(one.values)));
           }});
    const ModelMode& mode = scheme_.mode();
    const TensorType type = mode.group != 0             ? TensorType::uint8
                            : mode.linear == AXLE_A16F8 ? TensorType::float8_e4m3
                                                        : TensorType::int8;
    for (const LinearLayer& layer : content_.linears) {
      const std::size_t rows = layer.weights.rows();
      const std::size_t columns = layer.weights.columns();
      tensors.push_back(
          {layer.name + ".weight",
           type,
           {rows, scheme_.bytes(columns)},
           [this, &layer](const PutBytes& put) { return write_weights(layer, put); }});
      std::vector<std::size_t> shape{rows};
      if (mode.group != 0) shape.push_back(scheme_.scales(columns));
      tensors.push_back({layer.name + ".weight_scale",
                         mode.group != 0 ? TensorType::bfloat16 : TensorType::float32,
                         std::move(shape),
                         [this](const PutBytes& put) { return write_scales(put); }});
    }
    return tensors;
  }

  Result<void> write_weights(const LinearLayer& layer, const PutBytes& put) {
    try {
      return write_rows(layer, put);
    } catch (const std::bad_alloc&) {
      return failure(AXLE_NO_MEMORY, "%s: %s: no memory to quantise %zu x %zu weights",
                     layer.weights.where().c_str(), layer.weights.names().c_str(),
                     layer.weights.rows(), layer.weights.columns());
    }
  }

  Result<void> write_rows(const LinearLayer& layer, const PutBytes& put) {
    constexpr std::size_t most_floats = std::size_t{1} << 20U;
    const std::size_t rows = layer.weights.rows();
    const std::size_t columns = layer.weights.columns();
    const std::size_t together = std::max<std::size_t>(1, most_floats / columns);
    scales_.clear();
    QuantizationLoss loss{layer.name + ".weight", 0, 0};
    for (std::size_t first = 0; first < rows; first += together) {
      const std::size_t count = std::min(together, rows - first);
      const Result<void> taken = quantise_rows(layer, first, count, loss);
      if (!taken) return taken;
      const Result<void> done = put(std::as_bytes(std::span(values_)));
      if (!done) return done;
      done_ += count * columns;
      if (task_.on_weights)
        task_.on_weights(static_cast<double>(done_) / static_cast<double>(weights_));
    }
    report_.layers.push_back(std::move(loss));
    report_.kinds_.push_back(layer.kind);
    return {};
  }

  Result<void> quantise_rows(const LinearLayer& layer, std::size_t first, std::size_t count,
                             QuantizationLoss& loss) {
    const std::size_t columns = layer.weights.columns();
    const std::size_t groups = scheme_.scales(columns);
    std::vector<float> floats(count * columns);
    const Result<void> read = read_folded(layer, first, count, floats.data());
    if (!read) return read;
    values_.resize(count * scheme_.bytes(columns));
    scales_.resize((first + count) * groups);
    std::vector<double> errors(count);
    std::vector<double> sizes(count);
    std::vector<float> all_rounded(static_cast<std::size_t>(engine_.pool().threads()) * columns);
    engine_.share(count, count * columns * 64, [&](std::size_t r, std::size_t thread) noexcept {
      std::uint8_t* const values = values_.data() + r * scheme_.bytes(columns);
      float* const scales = scales_.data() + (first + r) * groups;
      float* const row = floats.data() + r * columns;
      const std::vector<float>& importance = layer.folding.importance;
      scheme_.quantise(row, importance.empty() ? nullptr : importance.data(), columns, values,
                       scales);
      float* const rounded = all_rounded.data() + thread * columns;
      scheme_.dequantise(values, scales, columns, rounded);
      const double divisor =
          layer.folding.rows.empty() ? 1 : 1 / static_cast<double>(layer.folding.rows[first + r]);
      for (std::size_t i = 0; i < columns; ++i) {
        // As weights of the model as it was.
        const double factor =
            divisor *
            (layer.folding.columns.empty() ? 1 : static_cast<double>(layer.folding.columns[i]));
        const double weight = static_cast<double>(row[i]) / factor;
        const double difference = weight - static_cast<double>(rounded[i]) / factor;
        errors[r] += difference * difference;
        sizes[r] += weight * weight;
      }
    });
    for (std::size_t r = 0; r < count; ++r) {
      loss.error += errors[r];
      loss.size += sizes[r];
    }
    return {};
  }

  Result<void> write_scales(const PutBytes& put) {
    if (scheme_.mode().group == 0) return put(std::as_bytes(std::span(scales_)));
    std::vector<std::uint16_t> halves;
    halves.reserve(scales_.size());
    for (const float scale : scales_) halves.push_back(bfloat16_from_float(scale));
    return put(std::as_bytes(std::span(halves)));
  }

  Engine& engine_;
  const Model& model_;
  const QuantizationTask& task_;
  const QuantizationScheme& scheme_;
  QuantizationReport report_;
  ModelContent content_;
  std::vector<KeptTensor> kept_;
  std::vector<std::uint8_t> values_;  ///< of the rows that were read last
  std::vector<float> scales_;         ///< of the layer
  std::size_t weights_ = 0;
  std::size_t done_ = 0;
};

double QuantizationLoss::relative() const { return size > 0 ? std::sqrt(error / size) : 0; }

QuantizationLoss QuantizationReport::whole() const {
  QuantizationLoss sum{"all", 0, 0};
  for (const QuantizationLoss& layer : layers) {
    sum.error += layer.error;
    sum.size += layer.size;
  }
  return sum;
}

std::vector<QuantizationLoss> QuantizationReport::kinds() const {
  std::vector<QuantizationLoss> sums;
  for (std::size_t i = 0; i < layers.size(); ++i) {
    auto sum = std::find_if(sums.begin(), sums.end(),
                            [&](const QuantizationLoss& one) { return one.name == kinds_[i]; });
    if (sum == sums.end()) sum = sums.insert(sums.end(), {kinds_[i], 0, 0});
    sum->error += layers[i].error;
    sum->size += layers[i].size;
  }
  return sums;
}

const QuantizationLoss& QuantizationReport::worst() const {
  return *std::max_element(layers.begin(), layers.end(), [](const auto& a, const auto& b) {
    return a.relative() < b.relative();
  });
}

Result<QuantizationScheme> choose_scheme(const ModelMode& mode, std::string_view method,
                                         std::size_t group) {
  if (!mode.quantised)
    return failure(AXLE_BAD_ARGUMENT, "mode %s does not quantise; name another", mode.name);
  const bool int4 = mode.group != 0;
  if (!int4 && group != 0)
    return failure(AXLE_BAD_ARGUMENT, "mode %s has a scale a row; groups are for int4 weights",
                   mode.name);
  if (group != 0 && group != 32 && group != 64 && group != 128)
    return failure(AXLE_BAD_ARGUMENT, "a group of %zu weights; there are 32, 64 and 128", group);
  ModelMode own = mode;
  if (group != 0) own.group = group;
  if (method.empty())
    return QuantizationScheme(own, int4 ? ScaleMethod::search : ScaleMethod::absmax);
  for (const MethodRow& row : scale_methods()) {
    if (method != row.name) continue;
    if (!int4 && (row.method == ScaleMethod::mse || row.method == ScaleMethod::search))
      return failure(AXLE_BAD_ARGUMENT, "method %s is for int4 weights; mode %s has absmax and awq",
                     row.name, mode.name);
    return QuantizationScheme(own, row.method);
  }
  return failure(AXLE_BAD_ARGUMENT,
                 "there is no method \"%s\"; there are absmax, mse, search and awq",
                 std::string(method).c_str());
}

Result<QuantizationReport> quantise_model(Engine& engine, const Model& model,
                                          const std::string& path, const std::string& folder,
                                          const QuantizationTask& task) {
  ModelQuantizer quantizer(engine, model, task);
  const Result<void> prepared = quantizer.prepare();
  if (!prepared) return std::unexpected(prepared.error());
  return quantizer.write(path, folder);
}

Result<QuantizationReport> measure_loss(Engine& engine, const Model& model,
                                        const QuantizationTask& task) {
  ModelQuantizer quantizer(engine, model, task);
  const Result<void> prepared = quantizer.prepare();
  if (!prepared) return std::unexpected(prepared.error());
  return quantizer.measure();
}

}  // namespace axle::runtime
