// The kinds of devices of this library: devices/sources.cmake says which (AXLE_DEVICES_…).

#ifdef AXLE_DEVICES_CUDA
#include "runtime/devices/cuda/cuda_device.h"
#endif
#ifdef AXLE_DEVICES_OPENCL
#include "runtime/devices/opencl/opencl_device.h"
#endif
#include "runtime/devices/device_kind.h"

namespace axle::runtime {
namespace {

constexpr const DeviceKind* kinds[] = {
#ifdef AXLE_DEVICES_CUDA
    &cuda_devices,
#endif
#ifdef AXLE_DEVICES_OPENCL
    &opencl_devices,
#endif
    nullptr};

}  // namespace

std::span<const DeviceKind* const> device_kinds() {
  return {kinds, sizeof kinds / sizeof kinds[0] - 1};
}

}  // namespace axle::runtime
