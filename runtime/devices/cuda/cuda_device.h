#pragma once
// NVIDIA's GPUs as devices.

#include "runtime/devices/cuda/cuda_code.h"
#include "runtime/devices/device_kind.h"

namespace axle::runtime {

/// With cuda_code().
// NOLINTNEXTLINE(bugprone-dynamic-static-initializers): constinit where it is defined
extern const DeviceKind cuda_devices;

/// As cuda_devices.describe and .open do it with other code.
bool describe_cuda(const CudaCode& code, std::uint32_t number, DeviceFacts& facts);
axle_status open_cuda(const CudaCode& code, std::uint32_t number, void*& state, axle_error* error);

}  // namespace axle::runtime
