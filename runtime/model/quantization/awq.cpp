#include "runtime/model/quantization/awq.h"

#include <algorithm>
#include <cmath>

#include "runtime/model/layers/elementary.h"

namespace axle::runtime {
namespace {

constexpr std::size_t powers = 21;        ///< 0, 0.05, … 1
constexpr std::size_t most_sample = 128;  ///< rows of activations that errors are measured on
constexpr std::size_t most_blocks = 8;    ///< of 64 rows of weights, likewise

/// Some of the rows, evenly.
Activations sample_of(const Activations& x) {
  const std::size_t count = std::min(x.rows(), most_sample);
  Activations sample{{}, x.columns};
  for (std::size_t i = 0; i < count; ++i) {
    const float* const from = x.row(i * x.rows() / count);
    sample.values.insert(sample.values.end(), from, from + x.columns);
  }
  return sample;
}

struct Moments {
  std::vector<float> magnitude;  ///< E|x| of a channel
  std::vector<float> square;     ///< E[x^2]
};

Moments moments_of(const Activations& x) {
  std::vector<double> magnitude(x.columns);
  std::vector<double> square(x.columns);
  for (std::size_t r = 0; r < x.rows(); ++r) {
    for (std::size_t i = 0; i < x.columns; ++i) {
      const double value = static_cast<double>(x.row(r)[i]);
      magnitude[i] += value < 0 ? -value : value;
      square[i] += value * value;
    }
  }
  const double rows = static_cast<double>(x.rows());
  Moments moments;
  // Channels that are never used count a little, so that nothing is divided by zero.
  for (std::size_t i = 0; i < x.columns; ++i) {
    moments.magnitude.push_back(static_cast<float>(magnitude[i] / rows + 1e-12));
    moments.square.push_back(static_cast<float>(square[i] / rows + 1e-12));
  }
  return moments;
}

/// The same value for all channels that share a factor: channel i belongs to `owner(i)`.
template <class Owner>
std::vector<float> shared(const std::vector<float>& values, std::size_t owners, Owner owner) {
  std::vector<double> sums(owners);
  std::vector<double> counts(owners);
  for (std::size_t i = 0; i < values.size(); ++i) {
    sums[owner(i)] += static_cast<double>(values[i]);
    counts[owner(i)] += 1;
  }
  std::vector<float> means(owners);
  for (std::size_t i = 0; i < owners; ++i) means[i] = static_cast<float>(sums[i] / counts[i]);
  return means;
}

/// magnitude^power, around 1.
std::vector<float> factors_of(const std::vector<float>& magnitude, double exponent) {
  std::vector<double> raised;
  for (const float one : magnitude) raised.push_back(power(static_cast<double>(one), exponent));
  const auto [least, most] = std::minmax_element(raised.begin(), raised.end());
  const double middle = std::sqrt(*least * *most);
  std::vector<float> factors;
  for (const double one : raised)
    factors.push_back(static_cast<float>(std::clamp(one / middle, 1e-4, 1e4)));
  return factors;
}

/// Tries factors for linear layers that share an input.
class FactorSearch {
 public:
  FactorSearch(Engine& engine, const QuantizationScheme& scheme, const Activations& x)
      : engine_(engine), scheme_(scheme), sample_(sample_of(x)), moments_(moments_of(x)) {}

  [[nodiscard]] const Moments& moments() const { return moments_; }

  /// Factors of columns; `owners` of them, channel i having that of `owner(i)`.
  template <class Owner>
  Result<std::vector<float>> find(const std::vector<LinearLayer*>& layers, std::size_t owners,
                                  Owner owner) {
    const std::vector<float> magnitude = shared(moments_.magnitude, owners, owner);
    for (std::size_t p = 0; p < powers; ++p) {
      const std::vector<float> own =
          factors_of(magnitude, static_cast<double>(p) / static_cast<double>(powers - 1));
      Candidate candidate;
      for (std::size_t i = 0; i < sample_.columns; ++i) {
        const float factor = own[owner(i)];
        candidate.factors.push_back(factor);
        candidate.importance.push_back(moments_.square[i] / factor / factor);
      }
      candidates_.push_back(std::move(candidate));
    }
    for (LinearLayer* const layer : layers) {
      const Result<void> measured = measure(*layer);
      if (!measured) return std::unexpected(measured.error());
    }
    const auto best =
        std::min_element(candidates_.begin(), candidates_.end(),
                         [](const auto& a, const auto& b) { return a.error < b.error; });
    for (LinearLayer* const layer : layers) {
      layer->folding.columns = best->factors;
      layer->folding.importance = best->importance;
    }
    std::vector<float> found(owners);
    for (std::size_t i = 0; i < sample_.columns; ++i) found[owner(i)] = best->factors[i];
    return found;
  }

 private:
  struct Candidate {
    std::vector<float> factors;
    std::vector<float> importance;
    double error = 0;
  };

  /// Of one thread: it must not allocate, an exception would end the process.
  struct Scratch {
    Scratch(const QuantizationScheme& scheme, const Activations& sample)
        : weights(block_columns * sample.columns),
          scaled(sample.columns),
          rounded(sample.columns),
          scales(scheme.scales(sample.columns)),
          values(scheme.bytes(sample.columns)),
          difference(sample.columns * block_columns),
          outputs(sample.rows() * block_columns) {}

    std::vector<float> weights;  ///< up to 64 rows
    std::vector<float> scaled;   ///< of one row, as the rest
    std::vector<float> rounded;
    std::vector<float> scales;
    std::vector<std::uint8_t> values;
    std::vector<float> difference;  ///< [columns][64]
    std::vector<float> outputs;     ///< [rows of the sample][64]
  };

  Result<void> measure(const LinearLayer& layer) {
    const std::size_t rows = layer.weights.rows();
    const std::size_t columns = sample_.columns;
    const std::size_t there = (rows + block_columns - 1) / block_columns;
    const std::size_t blocks = std::min(there, most_blocks);
    std::vector<double> errors(blocks * powers);
    std::vector<Failure> failures(blocks, Failure{AXLE_OK, ""});
    const auto threads = static_cast<std::size_t>(engine_.pool().threads());
    std::vector<Scratch> scratch(threads, Scratch(scheme_, sample_));
    engine_.share(
        blocks, rows * columns * powers * 16, [&](std::size_t block, std::size_t thread) noexcept {
          const std::size_t first = block * there / blocks * block_columns;
          const std::size_t count = std::min(block_columns, rows - first);
          Scratch& own = scratch[thread];
          Result<void> read =
              caught([&] { return layer.weights.read(first, count, own.weights.data()); });
          if (!read) {
            failures[block] = std::move(read.error());
            return;
          }
          for (std::size_t p = 0; p < powers; ++p)
            errors[block * powers + p] = output_error(candidates_[p], count, own);
        });
    for (const Failure& failure : failures) {
      if (failure.status != AXLE_OK) return std::unexpected(failure);
    }
    // In the order of the blocks: the same sum with any number of threads.
    for (std::size_t i = 0; i < errors.size(); ++i) candidates_[i % powers].error += errors[i];
    return {};
  }

  /// The squared difference that rounding makes to the outputs of up to 64 rows of weights.
  double output_error(const Candidate& candidate, std::size_t count, Scratch& s) const {
    const std::size_t columns = sample_.columns;
    std::fill(s.difference.begin(), s.difference.end(), 0.0F);
    for (std::size_t r = 0; r < count; ++r) {
      const float* const row = s.weights.data() + r * columns;
      for (std::size_t i = 0; i < columns; ++i) s.scaled[i] = row[i] * candidate.factors[i];
      scheme_.quantise(s.scaled.data(), candidate.importance.data(), columns, s.values.data(),
                       s.scales.data());
      scheme_.dequantise(s.values.data(), s.scales.data(), columns, s.rounded.data());
      for (std::size_t i = 0; i < columns; ++i)
        s.difference[i * block_columns + r] = row[i] - s.rounded[i] / candidate.factors[i];
    }
    engine_.kernel_for(1).set->model->multiply_floats({.weights = s.difference.data(),
                                                       .x = sample_.values.data(),
                                                       .x_floats = columns,
                                                       .rows = sample_.rows(),
                                                       .depth = columns,
                                                       .y = s.outputs.data(),
                                                       .y_floats = block_columns});
    double sum = 0;
    for (const float output : s.outputs)
      sum += static_cast<double>(output) * static_cast<double>(output);
    return sum;
  }

  Engine& engine_;
  const QuantizationScheme& scheme_;
  Activations sample_;
  Moments moments_;
  std::vector<Candidate> candidates_;
};

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

  template <class Owner>
  Result<std::vector<float>> search(const Activations& x, std::initializer_list<Part> parts,
                                    std::size_t owners, Owner owner) {
    std::vector<LinearLayer*> layers;
    for (const Part part : parts) layers.push_back(&linear(part));
    return FactorSearch(engine_, scheme_, x).find(std::move(layers), owners, owner);
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

}  // namespace

Result<void> fold_activations(Engine& engine, const ModelShape& shape, const TensorSource& source,
                              std::span<const std::int32_t> tokens,
                              const QuantizationScheme& scheme, const LoadProgress& progress,
                              ModelContent& content) {
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
