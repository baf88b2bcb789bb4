#pragma once
// A linear layer whose weights lie on a device. They lie there as on the CPU, and so does what
// comes of them: byte for byte.

#include <cstddef>
#include <cstdint>

#include "runtime/axle_runtime.h"
#include "runtime/devices/device.h"
#include "runtime/linear.h"

namespace axle::runtime {

class DeviceLayer {
 public:
  explicit DeviceLayer(Device& device) : device_(device) {}
  DeviceLayer(const DeviceLayer&) = delete;
  DeviceLayer& operator=(const DeviceLayer&) = delete;
  ~DeviceLayer();

  /// Takes what `linear` has packed; it may then be dropped. AXLE_UNSUPPORTED: a mode that devices
  /// do not have. Call once.
  axle_status take(const Linear& linear, axle_error* error);

  /// As axle_linear_forward has it, arguments checked.
  axle_status forward(axle_type x_type, const void* x, std::size_t m, float* y, axle_error* error);

  /// The kernel that multiplies for so many rows of x.
  [[nodiscard]] const char* kernel_for(std::size_t rows) const;

 private:
  [[nodiscard]] DeviceKernel multiply_kernel(std::size_t rows) const;
  [[nodiscard]] bool uses_matrix(std::size_t rows) const;
  axle_status upload(const Memory& from, DeviceMemory& to, axle_error* error);
  axle_status reserve(std::size_t rows, std::size_t x_bytes, axle_error* error);
  axle_status quantise(axle_type x_type, std::size_t rows, axle_error* error);
  axle_status multiply(std::size_t rows, axle_error* error);
  axle_status run(axle_type x_type, const void* x, std::size_t rows, float* y, axle_error* error);

  Device& device_;
  WeightForm form_ = WeightForm::int8;
  std::size_t planes_ = 1;
  std::size_t n_ = 0;
  std::size_t k_ = 0;
  std::size_t padded_n_ = 0;
  std::size_t padded_k_ = 0;
  std::size_t group_ = 0;
  bool has_bias_ = false;
  DeviceMemory weights_;
  DeviceMemory side_;
  DeviceMemory scales_;
  DeviceMemory bias_;
};

}  // namespace axle::runtime
