#include "runtime/selftest.h"

#include <cstdint>

#include "runtime/linear.h"

namespace axle::runtime {
namespace {

constexpr std::size_t n = 70;
constexpr std::size_t k = 200;
constexpr std::size_t most_rows = 37;
constexpr std::size_t row_counts[] = {1, 3, 8, most_rows};

/// Small pseudo-random numbers, the same everywhere (a linear congruential generator).
class Numbers {
 public:
  std::int32_t next(std::int32_t bound) {
    state_ = state_ * 1664525U + 1013904223U;
    return static_cast<std::int32_t>((state_ >> 16U) %
                                     (2U * static_cast<std::uint32_t>(bound) + 1U)) -
           bound;
  }

 private:
  std::uint32_t state_ = 1;
};

struct Case {
  std::int8_t weights[n * k];
  float scales[n];
  float bias[n];
  float x[most_rows * k];
  float y[most_rows * n];
};

void fill(Case& data) {
  Numbers numbers;
  for (std::int8_t& weight : data.weights) weight = static_cast<std::int8_t>(numbers.next(127));
  data.weights[0] = -128;
  for (float& scale : data.scales) scale = static_cast<float>(numbers.next(500) + 600) / 65536.0F;
  for (float& bias : data.bias) bias = static_cast<float>(numbers.next(1000)) / 256.0F;
  for (float& x : data.x) x = static_cast<float>(numbers.next(2000)) / 512.0F;
}

/// The result may differ from sums in double by what rounding each x to a step of its row can cost.
bool is_right(const Case& data, std::size_t rows, double steps, std::size_t& bad) {
  for (std::size_t i = 0; i < rows * n; ++i) {
    const float* const x = data.x + i / n * k;
    const std::int8_t* const w = data.weights + i % n * k;
    double expected = 0;
    double weight_sum = 0;
    double largest = 0;
    for (std::size_t j = 0; j < k; ++j) {
      expected += static_cast<double>(x[j]) * w[j];
      weight_sum += w[j] < 0 ? -w[j] : w[j];
      const double magnitude = x[j] < 0 ? -static_cast<double>(x[j]) : static_cast<double>(x[j]);
      if (magnitude > largest) largest = magnitude;
    }
    const double scale = static_cast<double>(data.scales[i % n]);
    const double difference =
        static_cast<double>(data.y[i]) - (expected * scale + static_cast<double>(data.bias[i % n]));
    const double bound = 0.51 * largest / steps * weight_sum * scale + 1e-4;
    bad = i;
    const bool close = difference <= bound && difference >= -bound;  // never so for NaN
    if (!close) return false;
  }
  return true;
}

axle_status check_mode(Engine& engine, Case& data, axle_mode mode, axle_error* error) {
  Linear linear(engine);
  const axle_status packed = linear.pack({.struct_size = sizeof(axle_linear_options),
                                          .mode = mode,
                                          .weight_type = AXLE_INT8,
                                          .n = n,
                                          .k = k,
                                          .weights = data.weights,
                                          .scales = data.scales,
                                          .bias = data.bias,
                                          .group = 0,
                                          .scaling = AXLE_SEARCHED,
                                          .reserved = 0,
                                          .factors = nullptr},
                                         error);
  if (packed != AXLE_OK) return packed;
  for (const std::size_t rows : row_counts) {
    const axle_status status = linear.forward(AXLE_FLOAT32, data.x, rows, data.y, error);
    if (status != AXLE_OK) return status;
    std::size_t bad = 0;
    if (!is_right(data, rows, mode == AXLE_A16W8 ? 32512.0 : 127.0, bad))
      return report_failure(
          error, AXLE_MISMATCH, "kernel set '%s', %s, %zu rows: y[%zu][%zu] is wrong (%g)",
          engine.kernel_for(rows * planes_of(mode)).name, mode == AXLE_A16W8 ? "a16w8" : "da8w8",
          rows, bad / n, bad % n, static_cast<double>(data.y[bad]));
  }
  return AXLE_OK;
}

}  // namespace

axle_status selftest(Engine& engine, axle_error* error) {
  const Memory memory(sizeof(Case));
  if (memory.data() == nullptr)
    return report_failure(error, AXLE_NO_MEMORY, "no memory for the self-test");
  Case& data = *memory.as<Case>();
  fill(data);
  for (const KernelRow* row : engine.kernels()) {
    // A refused permission is not a wrong result: the engine does without them as well.
    if (!is_permitted(*row)) continue;
    Engine forced(engine.pool().threads());
    forced.use_only(*row);
    axle_status status = check_mode(forced, data, AXLE_DA8W8, error);
    if (status == AXLE_OK) status = check_mode(forced, data, AXLE_A16W8, error);
    if (status != AXLE_OK) return status;
  }
  return AXLE_OK;
}

}  // namespace axle::runtime
