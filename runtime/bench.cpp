// Times one layer on weights that no cache holds, beside plain reads of as much memory. A weight
// matrix that is used again and again comes from a cache and looks two to three times too fast.

#include "runtime/bench.h"

#include <cstdint>

#include "runtime/linear.h"
#include "runtime/machine/clock.h"
#include "runtime/read_probe.h"

namespace axle::runtime {
namespace {

constexpr std::size_t default_weight_bytes = std::size_t{256} << 20;
constexpr double default_seconds = 0.5;
constexpr double most_seconds = 86400;
constexpr std::size_t most_layers = 4096;
constexpr int least_rounds = 3;

class Bench {
 public:
  Bench(Engine& engine, const axle_bench_options& options)
      : engine_(engine), options_(options), read_(engine) {}
  Bench(const Bench&) = delete;
  Bench& operator=(const Bench&) = delete;
  ~Bench() {
    for (std::size_t i = 0; i < layers_; ++i) layer(i).~Linear();
  }

  axle_status prepare(axle_error* error);
  void measure(axle_bench_result& result);

 private:
  [[nodiscard]] Linear& layer(std::size_t i) const { return memory_.as<Linear>()[i]; }
  /// What the packed weights of one layer take, their scales included.
  [[nodiscard]] std::size_t layer_bytes() const;
  [[nodiscard]] axle_linear_options layer_options() const;
  double time_forward(std::size_t i);

  Engine& engine_;
  const axle_bench_options& options_;
  Memory weights_;  ///< not packed
  Memory scales_;
  Memory factors_;
  Memory memory_;  ///< of the layers
  Memory x_;
  Memory y_;
  ReadProbe read_;  ///< as many bytes as one layer has, another part for each
  std::size_t layers_ = 0;
};

axle_linear_options Bench::layer_options() const {
  const bool float8 = options_.mode == AXLE_A16F8;
  return {.struct_size = sizeof(axle_linear_options),
          .mode = options_.mode,
          .weight_type = float8 ? AXLE_FLOAT8 : AXLE_INT8,
          .n = options_.n,
          .k = options_.k,
          .weights = weights_.data(),
          .scales = scales_.as<float>(),
          .bias = nullptr,
          .group = options_.group,
          .scaling = options_.scaling,
          .reserved = options_.reserved,
          .factors = options_.scaling == AXLE_TWO_LEVEL ? factors_.as<std::uint8_t>() : nullptr,
          .device = nullptr};
}

std::size_t Bench::layer_bytes() const {
  const axle_linear_options options = layer_options();
  const std::size_t weights = options.n * options.k;
  const WeightForm form = weight_form(options);
  if (form == WeightForm::int4)
    return weights / 2 + 2 * options.n * (options.k / group_of(options));
  if (form == WeightForm::two_level) return weights / 2 + weights / depth_multiple;
  return weights;
}

/// Weights as the mode has them, from arbitrary bytes.
void shape_weights(axle_mode mode, std::uint8_t* weights, std::size_t count) {
  for (std::size_t i = 0; i < count; ++i) {
    if (mode == AXLE_A16W4 || mode == AXLE_DA8W4)
      weights[i] = static_cast<std::uint8_t>((weights[i] & 15U) - 8U);
    // Of the magnitudes that most weights of a layer have: neither NaN nor subnormal.
    if (mode == AXLE_A16F8) weights[i] = static_cast<std::uint8_t>((weights[i] & 0xb7U) | 0x40U);
  }
}

axle_status Bench::prepare(axle_error* error) {
  const std::size_t n = options_.n;
  const std::size_t k = options_.k;
  if (n == 0 || k == 0 || k > most_depth || options_.m == 0 || n > (std::size_t{1} << 32U) ||
      options_.m > (std::size_t{1} << 20U))
    return report_failure(error, AXLE_BAD_ARGUMENT, "m, n and k must be at least 1 and in bounds");
  const bool is_time = options_.seconds >= 0 && options_.seconds <= most_seconds;  // a NaN is none
  if (!is_time)
    return report_failure(error, AXLE_BAD_ARGUMENT, "seconds is %g; it must be 0 (%g) to %g",
                          options_.seconds, default_seconds, most_seconds);
  const std::size_t wanted =
      options_.weight_bytes != 0 ? options_.weight_bytes : default_weight_bytes;
  std::size_t count = (wanted + layer_bytes()) / (layer_bytes() + 1);
  if (count == 0) count = 1;
  if (count > most_layers) count = most_layers;
  const std::size_t groups = (k + 31) / 32;
  weights_ = Memory(n * k + 8 * count);
  scales_ = Memory(n * groups * sizeof(float));
  factors_ = Memory(n * groups);
  memory_ = Memory(count * sizeof(Linear));
  x_ = Memory(options_.m * k * sizeof(float));
  y_ = Memory(options_.m * n * sizeof(float));
  if (weights_.data() == nullptr || scales_.data() == nullptr || factors_.data() == nullptr ||
      memory_.data() == nullptr || x_.data() == nullptr || y_.data() == nullptr ||
      !read_.allocate(count, layer_bytes()))
    return report_failure(error, AXLE_NO_MEMORY, "no memory for the benchmark");
  fill_differently(weights_.data(), weights_.size());
  shape_weights(options_.mode, weights_.as<std::uint8_t>(), weights_.size());
  for (std::size_t i = 0; i < n * groups; ++i) {
    scales_.as<float>()[i] = 0x1p-7F;
    factors_.as<std::uint8_t>()[i] = static_cast<std::uint8_t>(1 + i % 15);
  }
  for (std::size_t i = 0; i < options_.m * k; ++i)
    x_.as<float>()[i] = static_cast<float>(static_cast<int>(i * 2654435761U % 2001U) - 1000);
  for (; layers_ < count; ++layers_) {
    // Every layer starts at another place of the same bytes: no two are equal.
    Linear* const linear = ::new (memory_.as<Linear>() + layers_) Linear(engine_);
    axle_linear_options options = layer_options();
    options.weights = weights_.as<std::uint8_t>(layers_ * 8);
    const axle_status status = linear->pack(options, error);
    if (status != AXLE_OK) {
      linear->~Linear();
      return status;
    }
  }
  return AXLE_OK;
}

double Bench::time_forward(std::size_t i) {
  const double start = now();
  layer(i).forward(AXLE_FLOAT32, x_.data(), options_.m, y_.as<float>(), nullptr);
  return now() - start;
}

void Bench::measure(axle_bench_result& result) {
  const double seconds = options_.seconds > 0 ? options_.seconds : default_seconds;
  const double end = now() + seconds;
  double best = 1e30;
  double best_read = 1e30;
  for (int round = 0; round < least_rounds || now() < end; ++round) {
    for (std::size_t i = 0; i < layers_ && (round == 0 || now() < end); ++i) {
      const double time = time_forward(i);
      if (time < best) best = time;
      const double read = read_.seconds(i);
      if (read < best_read) best_read = read;
    }
  }
  const double weights = static_cast<double>(options_.n) * static_cast<double>(options_.k);
  const double read_bytes = static_cast<double>(read_.part_bytes());
  result.microseconds = best * 1e6;
  result.gigabytes_per_second = static_cast<double>(layer_bytes()) / best * 1e-9;
  result.gigaops_per_second = 2.0 * static_cast<double>(options_.m) * weights / best * 1e-9;
  result.read_gigabytes_per_second = read_bytes / best_read * 1e-9;
  result.kernel = engine_.choice_for(layer(0).shape(), options_.m).kernel->name;
}

}  // namespace

axle_status bench(Engine& engine, const axle_bench_options& options, axle_bench_result& result,
                  axle_error* error) {
  Bench run(engine, options);
  const axle_status status = run.prepare(error);
  if (status == AXLE_OK) run.measure(result);
  return status;
}

}  // namespace axle::runtime
