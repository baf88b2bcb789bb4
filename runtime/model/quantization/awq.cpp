#include "runtime/model/quantization/awq.h"

#include <algorithm>

#include "runtime/model/quantization/encoder_calibration.h"
#include "runtime/model/quantization/factor_search.h"

namespace axle::runtime {
namespace {

/// Finds the parts of one layer and divides what makes their inputs.
class LayerFolder {
 public:
  LayerFolder(Engine& engine, const ModelShape& shape, const QuantizationScheme& scheme,
              ModelContent& content, std::size_t layer)
      : engine_(engine), shape_(shape), scheme_(scheme), content_(content), layer_(layer) {}

  Result<void> fold(const LayerInputs& inputs) {
    Result<std::vector<float>> factors =
        search(inputs.attention, {Part::query, Part::key, Part::value}, shape_.hidden, itself);
    if (!factors) return std::unexpected(factors.error());
    divide_vector(Part::attention_norm, "weight", *factors);
    const std::size_t depth = shape_.head_depth;
    const std::size_t group = shape_.heads / shape_.key_heads;
    factors = search(inputs.mixed, {Part::attention_output}, shape_.key_width(),
                     [&](std::size_t i) { return i / depth / group * depth + i % depth; });
    if (!factors) return std::unexpected(factors.error());
    divide_rows(Part::value, *factors);
    factors = search(inputs.feed_forward, {Part::gate, Part::up}, shape_.hidden, itself);
    if (!factors) return std::unexpected(factors.error());
    divide_vector(Part::feed_forward_norm, "weight", *factors);
    factors = search(inputs.activated, {Part::down}, shape_.feed_forward, itself);
    if (!factors) return std::unexpected(factors.error());
    divide_rows(Part::up, *factors);
    return {};
  }

  /// The last layer and the norm before it.
  Result<void> fold_output(const Activations& inputs) {
    const Result<std::vector<float>> factors =
        search(inputs, {Part::output}, shape_.hidden, itself);
    if (!factors) return std::unexpected(factors.error());
    divide_vector(Part::final_norm, "weight", *factors);
    return {};
  }

 private:
  static std::size_t itself(std::size_t i) { return i; }

  Result<std::vector<float>> search(const Activations& x, std::initializer_list<Part> parts,
                                    std::size_t owners, const Owner& owner) {
    std::vector<LinearLayer*> layers;
    for (const Part part : parts) layers.push_back(&linear(part));
    return FactorSearch(engine_, scheme_, x).find(layers, owners, owner);
  }

  LinearLayer& linear(Part part) {
    const std::string name = folder_name(part, layer_);
    return *std::find_if(content_.linears.begin(), content_.linears.end(),
                         [&](const LinearLayer& one) { return one.name == name; });
  }

  void divide_vector(Part part, const char* what, const std::vector<float>& factors) {
    const std::string name = folder_name(part, layer_) + "." + what;
    for (PlainVector& one : content_.vectors) {
      if (one.name != name) continue;
      for (std::size_t i = 0; i < factors.size(); ++i) one.values[i] /= factors[i];
    }
  }

  void divide_rows(Part part, const std::vector<float>& factors) {
    linear(part).folding.rows = factors;
    divide_vector(part, "bias", factors);
  }

  Engine& engine_;
  const ModelShape& shape_;
  const QuantizationScheme& scheme_;
  ModelContent& content_;
  std::size_t layer_;
};

/// What an encoder's layers are given. A norm's output goes into the stream as well as into a
/// layer, and GELU is no product: only values and what is mixed of them share factors.
Result<void> fold_encoder_layer(Engine& engine, const QuantizationScheme& scheme,
                                const std::string& name, const LayerInputs& inputs,
                                ModelContent& content) {
  const auto linear = [&](const char* part) {
    return &*std::find_if(content.linears.begin(), content.linears.end(),
                          [&](const LinearLayer& one) { return one.name == name + part; });
  };
  const std::string self = name + "attention.self.";
  LinearLayer* const values = linear("attention.self.value");
  FactorSearch(engine, scheme, inputs.attention)
      .weigh({linear("attention.self.query"), linear("attention.self.key"), values});
  FactorSearch(engine, scheme, inputs.feed_forward).weigh({linear("intermediate.dense")});
  FactorSearch(engine, scheme, inputs.activated).weigh({linear("output.dense")});
  Result<std::vector<float>> factors =
      FactorSearch(engine, scheme, inputs.mixed)
          .find({linear("attention.output.dense")}, inputs.mixed.columns,
                [](std::size_t i) { return i; });
  if (!factors) return std::unexpected(factors.error());
  for (PlainVector& one : content.vectors) {
    if (one.name != self + "value.bias") continue;
    for (std::size_t i = 0; i < factors->size(); ++i) one.values[i] /= (*factors)[i];
  }
  values->folding.rows = std::move(*factors);
  return {};
}

Result<void> fold_encoder(Engine& engine, const ModelShape& shape, const TensorSource& source,
                          std::span<const std::int32_t> tokens, const QuantizationScheme& scheme,
                          const LoadProgress& progress, ModelContent& content) {
  Result<EncoderCalibration> calibration = EncoderCalibration::begin(engine, shape, source, tokens);
  if (!calibration) return std::unexpected(calibration.error());
  for (std::size_t i = 0; i < shape.layers; ++i) {
    const Result<LayerInputs> inputs = calibration->next_layer();
    if (!inputs) return std::unexpected(inputs.error());
    const std::string name = encoder_prefix(source) + "encoder.layer." + std::to_string(i) + ".";
    const Result<void> folded = fold_encoder_layer(engine, scheme, name, *inputs, content);
    if (!folded) return folded;
    if (progress) progress(static_cast<double>(i + 1) / static_cast<double>(shape.layers));
  }
  return {};
}

}  // namespace

Result<void> fold_activations(Engine& engine, const ModelShape& shape, const TensorSource& source,
                              std::span<const std::int32_t> tokens,
                              const QuantizationScheme& scheme, const LoadProgress& progress,
                              ModelContent& content) {
  if (shape.architecture == Architecture::encoder)
    return fold_encoder(engine, shape, source, tokens, scheme, progress, content);
  Result<Calibration> calibration = Calibration::begin(engine, shape, source, tokens);
  if (!calibration) return std::unexpected(calibration.error());
  for (std::size_t i = 0; i < shape.layers; ++i) {
    const Result<LayerInputs> inputs = calibration->next_layer();
    if (!inputs) return std::unexpected(inputs.error());
    const Result<void> folded = LayerFolder(engine, shape, scheme, content, i).fold(*inputs);
    if (!folded) return folded;
    if (progress) progress(static_cast<double>(i + 1) / static_cast<double>(shape.layers + 1));
  }
  const Result<Activations> last = calibration->output_inputs();
  if (!last) return std::unexpected(last.error());
  const Result<void> folded =
      LayerFolder(engine, shape, scheme, content, shape.layers).fold_output(*last);
  if (!folded) return folded;
  if (progress) progress(1);
  return {};
}

}  // namespace axle::runtime
