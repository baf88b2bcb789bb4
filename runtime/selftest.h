#pragma once

#include "runtime/devices/device.h"
#include "runtime/engine.h"

namespace axle::runtime {

/// As axle_runtime_selftest has it.
axle_status selftest(Engine& engine, axle_error* error);

/// As axle_device_selftest has it.
axle_status selftest(Engine& engine, Device& device, axle_error* error);

}  // namespace axle::runtime
