#pragma once
// What OpenCL has as devices: GPUs of any vendor, and CPUs.

#include "runtime/devices/device_kind.h"

namespace axle::runtime {

// NOLINTNEXTLINE(bugprone-dynamic-static-initializers): constinit where it is defined
extern const DeviceKind opencl_devices;

}  // namespace axle::runtime
