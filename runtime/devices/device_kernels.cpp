#include "runtime/devices/device_kind.h"

namespace axle::runtime {
namespace {

constexpr DeviceKernelRow kernel_rows[device_kernels] = {
    {"axle_quantise", 256},           {"axle_multiply_int8", 128}, {"axle_multiply_int4", 128},
    {"axle_multiply_two_level", 128}, {"axle_matrix_int8", 128},   {"axle_matrix_int4", 128},
    {"axle_matrix_two_level", 128}};

}  // namespace

const DeviceKernelRow& device_kernel(DeviceKernel kernel) {
  return kernel_rows[static_cast<std::size_t>(kernel)];
}

}  // namespace axle::runtime
