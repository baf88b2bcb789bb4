#include "runtime/selftest.h"

#include <cstdint>

#include "runtime/devices/device_layer.h"
#include "runtime/half.h"
#include "runtime/linear.h"
#include "runtime/quantize/float8.h"

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

constexpr std::size_t most_groups = (k + 31) / 32;

/// What is tested: each form of weights, and both kinds of quantised rows.
struct Form {
  const char* name;
  axle_mode mode;
  double steps;  ///< to which a row is quantised; of bfloat16: half a step is 2^-9
  std::size_t group = 0;
  axle_scaling scaling = AXLE_SEARCHED;
};

constexpr Form forms[] = {{"da8w8", AXLE_DA8W8, 127},
                          {"a16w8", AXLE_A16W8, 32512},
                          {"da8w4", AXLE_DA8W4, 127, 64},
                          {"a16w4", AXLE_A16W4, 32512, 32},
                          {"a16w4 with two levels", AXLE_A16W4, 32512, 32, AXLE_TWO_LEVEL},
                          {"a16f8", AXLE_A16F8, 256}};

struct Case {
  std::int8_t weights[n * k];  ///< as the form has them
  float scales[n * most_groups];
  std::uint8_t factors[n * most_groups];
  double values[n * k];  ///< the weights that are meant
  float bias[n];
  float x[most_rows * k];
  float y[most_rows * n];
  float expected[most_rows * n];  ///< of a device
};

std::int8_t make_weight(const Form& form, Numbers& numbers) {
  const std::int32_t wide = numbers.next(127);
  if (form.mode == AXLE_A16W4 || form.mode == AXLE_DA8W4)
    return static_cast<std::int8_t>(wide < 0 ? -(-wide % 9) : wide % 8);
  if (form.mode == AXLE_A16F8 && (wide == 127 || wide == -1)) return 0;  // bits of NaNs
  return static_cast<std::int8_t>(wide);
}

void fill(Case& data, const Form& form) {
  Numbers numbers;
  for (std::int8_t& weight : data.weights) weight = make_weight(form, numbers);
  if (form.group == 0) data.weights[0] = -128;
  // Exact as bfloat16.
  for (float& scale : data.scales) scale = static_cast<float>(numbers.next(60) + 68) / 8192.0F;
  for (std::uint8_t& factor : data.factors) factor = static_cast<std::uint8_t>(numbers.next(7) + 8);
  for (float& bias : data.bias) bias = static_cast<float>(numbers.next(1000)) / 256.0F;
  for (float& x : data.x) x = static_cast<float>(numbers.next(2000)) / 512.0F;
  const bool two_level = form.scaling == AXLE_TWO_LEVEL;
  const std::size_t groups = form.group == 0 ? 1 : (k + form.group - 1) / form.group;
  for (std::size_t i = 0; i < n * k; ++i) {
    const std::size_t group = i / k * groups + (form.group == 0 ? 0 : i % k / form.group);
    double value = data.weights[i];
    if (form.mode == AXLE_A16F8)
      value = static_cast<double>(float_from_float8(static_cast<std::uint8_t>(data.weights[i])));
    if (two_level) value *= data.factors[group];
    data.values[i] = value * static_cast<double>(data.scales[two_level ? i / k : group]);
  }
}

/// The result may differ from sums in double by what rounding each x to a step of its row can cost,
/// and by what sums in float cost.
bool is_right(const Case& data, std::size_t rows, double steps, std::size_t& bad) {
  for (std::size_t i = 0; i < rows * n; ++i) {
    const float* const x = data.x + i / n * k;
    const double* const w = data.values + i % n * k;
    double expected = static_cast<double>(data.bias[i % n]);
    double weight_sum = 0;
    double largest = 0;
    for (std::size_t j = 0; j < k; ++j) {
      expected += static_cast<double>(x[j]) * w[j];
      weight_sum += w[j] < 0 ? -w[j] : w[j];
      const double magnitude = x[j] < 0 ? -static_cast<double>(x[j]) : static_cast<double>(x[j]);
      if (magnitude > largest) largest = magnitude;
    }
    const double difference = static_cast<double>(data.y[i]) - expected;
    const double bound = (0.51 / steps + 1e-6) * largest * weight_sum + 1e-4;
    bad = i;
    const bool close = difference <= bound && difference >= -bound;  // never so for NaN
    if (!close) return false;
  }
  return true;
}

axle_status pack(Linear& linear, const Case& data, const Form& form, axle_error* error) {
  return linear.pack({.struct_size = sizeof(axle_linear_options),
                      .mode = form.mode,
                      .weight_type = form.mode == AXLE_A16F8 ? AXLE_FLOAT8 : AXLE_INT8,
                      .n = n,
                      .k = k,
                      .weights = data.weights,
                      .scales = data.scales,
                      .bias = data.bias,
                      .group = form.group,
                      .scaling = form.scaling,
                      .reserved = 0,
                      .factors = form.scaling == AXLE_TWO_LEVEL ? data.factors : nullptr,
                      .device = nullptr},
                     error);
}

axle_status check_form(Engine& engine, Case& data, const Form& form, axle_error* error) {
  fill(data, form);
  Linear linear(engine);
  const axle_status packed = pack(linear, data, form, error);
  if (packed != AXLE_OK) return packed;
  for (const std::size_t rows : row_counts) {
    const axle_status status = linear.forward(AXLE_FLOAT32, data.x, rows, data.y, error);
    if (status != AXLE_OK) return status;
    std::size_t bad = 0;
    if (!is_right(data, rows, form.steps, bad))
      return report_failure(error, AXLE_MISMATCH,
                            "kernel set '%s', %s, %zu rows: y[%zu][%zu] is wrong (%g)",
                            engine.kernel_for(rows * planes_of(form.mode), form.mode).name,
                            form.name, rows, bad / n, bad % n, static_cast<double>(data.y[bad]));
  }
  return AXLE_OK;
}

axle_status check_form_on(Device& device, Engine& engine, Case& data, const Form& form,
                          axle_error* error) {
  fill(data, form);
  Linear linear(engine);
  DeviceLayer layer(device);
  axle_status status = pack(linear, data, form, error);
  if (status == AXLE_OK) status = layer.take(linear, error);
  for (const std::size_t rows : row_counts) {
    if (status == AXLE_OK)
      status = linear.forward(AXLE_FLOAT32, data.x, rows, data.expected, error);
    if (status == AXLE_OK) status = layer.forward(AXLE_FLOAT32, data.x, rows, data.y, error);
    if (status != AXLE_OK) return status;
    for (std::size_t i = 0; i < rows * n; ++i) {
      if (bits_of_float(data.y[i]) == bits_of_float(data.expected[i])) continue;
      return report_failure(error, AXLE_MISMATCH,
                            "device '%s', %s, %s, %zu rows: y[%zu][%zu] is %a, on the CPU %a",
                            device.name(), layer.kernel_for(rows), form.name, rows, i / n, i % n,
                            static_cast<double>(data.y[i]), static_cast<double>(data.expected[i]));
    }
  }
  return AXLE_OK;
}

}  // namespace

axle_status selftest(Engine& engine, Device& device, axle_error* error) {
  const Memory memory(sizeof(Case));
  if (memory.data() == nullptr)
    return report_failure(error, AXLE_NO_MEMORY, "no memory for the self-test");
  for (const Form& form : forms) {
    if (form.mode == AXLE_A16F8) continue;
    const axle_status status = check_form_on(device, engine, *memory.as<Case>(), form, error);
    if (status != AXLE_OK) return status;
  }
  return AXLE_OK;
}

axle_status selftest(Engine& engine, axle_error* error) {
  const Memory memory(sizeof(Case));
  if (memory.data() == nullptr)
    return report_failure(error, AXLE_NO_MEMORY, "no memory for the self-test");
  Case& data = *memory.as<Case>();
  for (const KernelRow* row : engine.kernels()) {
    // A refused permission is not a wrong result: the engine does without them as well.
    if (!is_permitted(*row)) continue;
    Engine forced(engine.pool().threads());
    forced.use_only(*row);
    for (const Form& form : forms) {
      const axle_status status = check_form(forced, data, form, error);
      if (status != AXLE_OK) return status;
    }
  }
  return AXLE_OK;
}

}  // namespace axle::runtime
