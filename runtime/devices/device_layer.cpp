#include "runtime/devices/device_layer.h"

#include <cstdint>

#include "runtime/activation_types.h"
#include "runtime/error_message.h"

namespace axle::runtime {
namespace {

/// Rows that are computed together: a device's memory for them stays small.
constexpr std::size_t most_rows_together = 512;
/// As devices/code has them.
constexpr std::size_t dot_rows = 4;
constexpr std::size_t dot_columns = 16;
constexpr std::size_t matrix_rows = 16;

constexpr std::size_t rounded_up(std::size_t value, std::size_t by) {
  return (value + by - 1) / by;
}

DeviceArgument memory_argument(const DeviceMemory& memory) { return {true, memory.handle()}; }
DeviceArgument number_argument(std::size_t number) { return {false, number}; }

}  // namespace

DeviceLayer::~DeviceLayer() {
  // In a child of fork() whoever held the device may be the parent's.
  if (!device_.is_of_this_process()) return;
  const Device::Hold hold(device_);
  for (DeviceMemory* memory : {&weights_, &side_, &scales_, &bias_}) memory->release();
}

axle_status DeviceLayer::upload(const Memory& from, DeviceMemory& to, axle_error* error) {
  if (from.data() == nullptr) return AXLE_OK;
  const axle_status status = to.grow_to(device_, from.size(), error);
  if (status != AXLE_OK) return status;
  return device_.kind().write(device_.state(), to.handle(), from.data(), from.size(), error);
}

axle_status DeviceLayer::take(const Linear& linear, axle_error* error) {
  const Linear::Packed packed = linear.packed();
  if (packed.form == WeightForm::float8)
    return report_failure(error, AXLE_UNSUPPORTED,
                          "device '%s' has no kernels for float8 weights; use another mode, or "
                          "device 'cpu'",
                          device_.name());
  if (linear.n() > INT32_MAX)
    return report_failure(error, AXLE_UNSUPPORTED,
                          "n (output features) is %zu, too many for device '%s'", linear.n(),
                          device_.name());
  form_ = packed.form;
  planes_ = planes_of(linear.mode());
  n_ = linear.n();
  k_ = linear.k();
  padded_n_ = packed.padded_n;
  padded_k_ = packed.padded_k;
  group_ = packed.form == WeightForm::int4 ? linear.shape().group : 0;
  has_bias_ = packed.bias.data() != nullptr;
  const Device::Hold hold(device_);
  axle_status status = upload(packed.weights, weights_, error);
  if (status == AXLE_OK) status = upload(packed.side, side_, error);
  if (status == AXLE_OK) status = upload(packed.scales, scales_, error);
  if (status == AXLE_OK) status = upload(packed.bias, bias_, error);
  return status;
}

bool DeviceLayer::uses_matrix(std::size_t rows) const {
  const std::size_t least = device_.kind().least_matrix_rows;
  return least != 0 && rows >= least;
}

DeviceKernel DeviceLayer::multiply_kernel(std::size_t rows) const {
  const bool matrix = uses_matrix(rows);
  if (form_ == WeightForm::int8)
    return matrix ? DeviceKernel::matrix_int8 : DeviceKernel::multiply_int8;
  if (form_ == WeightForm::int4)
    return matrix ? DeviceKernel::matrix_int4 : DeviceKernel::multiply_int4;
  return matrix ? DeviceKernel::matrix_two_level : DeviceKernel::multiply_two_level;
}

const char* DeviceLayer::kernel_for(std::size_t rows) const {
  const std::size_t together = rows < most_rows_together ? rows : most_rows_together;
  return device_kernel(multiply_kernel(together)).name;
}

axle_status DeviceLayer::reserve(std::size_t rows, std::size_t x_bytes, axle_error* error) {
  Device::Scratch& scratch = device_.scratch();
  axle_status status = scratch.x.grow_to(device_, rows * k_ * x_bytes, error);
  if (status == AXLE_OK)
    status = scratch.values.grow_to(device_, rows * planes_ * padded_k_, error);
  if (status == AXLE_OK) status = scratch.row_scales.grow_to(device_, rows * sizeof(float), error);
  if (status == AXLE_OK) status = scratch.y.grow_to(device_, rows * n_ * sizeof(float), error);
  return status;
}

axle_status DeviceLayer::quantise(axle_type x_type, std::size_t rows, axle_error* error) {
  const Device::Scratch& scratch = device_.scratch();
  const DeviceArgument arguments[] = {memory_argument(scratch.x),
                                      memory_argument(scratch.values),
                                      memory_argument(scratch.row_scales),
                                      number_argument(static_cast<std::size_t>(x_type)),
                                      number_argument(k_),
                                      number_argument(padded_k_ / 4),
                                      number_argument(planes_),
                                      number_argument(rows)};
  return device_.kind().launch(
      device_.state(), {DeviceKernel::quantise, static_cast<std::uint32_t>(rows), 1, arguments},
      error);
}

axle_status DeviceLayer::multiply(std::size_t rows, axle_error* error) {
  const Device::Scratch& scratch = device_.scratch();
  // What a layer does not have is not read; a device still wants some memory there.
  const auto or_weights = [&](const DeviceMemory& memory) {
    return memory_argument(memory.handle() != 0 ? memory : weights_);
  };
  const DeviceArgument arguments[] = {memory_argument(weights_),
                                      or_weights(side_),
                                      or_weights(scales_),
                                      or_weights(bias_),
                                      memory_argument(scratch.values),
                                      memory_argument(scratch.row_scales),
                                      memory_argument(scratch.y),
                                      number_argument(padded_k_ / 4),
                                      number_argument(rows),
                                      number_argument(planes_),
                                      number_argument(n_),
                                      number_argument(group_),
                                      number_argument(has_bias_ ? 1 : 0)};
  const bool matrix = uses_matrix(rows);
  const std::size_t blocks_x = padded_n_ / (matrix ? block_columns : dot_columns);
  const std::size_t blocks_y = rounded_up(rows, matrix ? matrix_rows : dot_rows);
  return device_.kind().launch(device_.state(),
                               {multiply_kernel(rows), static_cast<std::uint32_t>(blocks_x),
                                static_cast<std::uint32_t>(blocks_y), arguments},
                               error);
}

axle_status DeviceLayer::run(axle_type x_type, const void* x, std::size_t rows, float* y,
                             axle_error* error) {
  const std::size_t x_bytes = activation_bytes(x_type);
  Device::Scratch& scratch = device_.scratch();
  axle_status status = reserve(rows, x_bytes, error);
  if (status == AXLE_OK)
    status =
        device_.kind().write(device_.state(), scratch.x.handle(), x, rows * k_ * x_bytes, error);
  if (status == AXLE_OK) status = quantise(x_type, rows, error);
  if (status == AXLE_OK) status = multiply(rows, error);
  if (status == AXLE_OK)
    status = device_.kind().read(device_.state(), scratch.y.handle(), y, rows * n_ * sizeof(float),
                                 error);
  return status;
}

axle_status DeviceLayer::forward(axle_type x_type, const void* x, std::size_t m, float* y,
                                 axle_error* error) {
  if (!device_.is_of_this_process())
    return report_failure(error, AXLE_BAD_ARGUMENT,
                          "device '%s' was opened before a fork(), and is the parent's: make the "
                          "layer in this process, in a runtime of its own",
                          device_.name());
  const Device::Hold hold(device_);
  const std::size_t x_row_bytes = k_ * activation_bytes(x_type);
  for (std::size_t row = 0; row < m; row += most_rows_together) {
    const std::size_t rows = m - row < most_rows_together ? m - row : most_rows_together;
    const axle_status status =
        run(x_type, static_cast<const char*>(x) + row * x_row_bytes, rows, y + row * n_, error);
    if (status != AXLE_OK) return status;
  }
  return AXLE_OK;
}

}  // namespace axle::runtime
