#include "runtime/model/quantization/factor_search.h"

#include <algorithm>
#include <cmath>

#include "runtime/model/layers/elementary.h"

namespace axle::runtime {
namespace {

constexpr std::size_t powers = 21;        ///< 0, 0.05, … 1
constexpr std::size_t most_sample = 128;  ///< rows of activations that errors are measured on
constexpr std::size_t most_blocks = 8;    ///< of 64 rows of weights, likewise

/// The same value for all channels that share a factor: channel i belongs to `owner(i)`.
std::vector<float> shared(const std::vector<float>& values, std::size_t owners,
                          const Owner& owner) {
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

}  // namespace

/// Of one thread: it must not allocate, an exception would end the process.
struct FactorSearch::Scratch {
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

/// Some of the rows, evenly.
Activations FactorSearch::sample_of(const Activations& x) {
  const std::size_t count = std::min(x.rows(), most_sample);
  Activations sample{{}, x.columns};
  for (std::size_t i = 0; i < count; ++i) {
    const float* const from = x.row(i * x.rows() / count);
    sample.values.insert(sample.values.end(), from, from + x.columns);
  }
  return sample;
}

FactorSearch::Moments FactorSearch::moments_of(const Activations& x) {
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

FactorSearch::FactorSearch(Engine& engine, const QuantizationScheme& scheme, const Activations& x)
    : engine_(engine), scheme_(scheme), sample_(sample_of(x)), moments_(moments_of(x)) {}

void FactorSearch::list_candidates(std::size_t owners, const Owner& owner) {
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
}

Result<std::vector<float>> FactorSearch::find(const std::vector<LinearLayer*>& layers,
                                              std::size_t owners, const Owner& owner) {
  list_candidates(owners, owner);
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

void FactorSearch::weigh(const std::vector<LinearLayer*>& layers) const {
  for (LinearLayer* const layer : layers) layer->folding.importance = moments_.square;
}

Result<void> FactorSearch::measure(const LinearLayer& layer) {
  const std::size_t rows = layer.weights.rows();
  const std::size_t columns = sample_.columns;
  const std::size_t there = (rows + block_columns - 1) / block_columns;
  const std::size_t blocks = std::min(there, most_blocks);
  std::vector<double> errors(blocks * powers);
  std::vector<Failure> failures(blocks, Failure{AXLE_OK, ""});
  const auto threads = static_cast<std::size_t>(engine_.pool().threads());
  std::vector<Scratch> scratch(threads, Scratch(scheme_, sample_));
  engine_.share(blocks, rows * columns * powers * 16,
                [&](std::size_t block, std::size_t thread) noexcept {
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
double FactorSearch::output_error(const Candidate& candidate, std::size_t count, Scratch& s) const {
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

}  // namespace axle::runtime
