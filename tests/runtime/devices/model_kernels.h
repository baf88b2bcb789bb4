#pragma once
// The kernels of runtime/devices/code on the CPU (model_dialect.h), and a kind of devices made of
// them.

#include <cstdint>

#include "runtime/devices/device_kind.h"

namespace axle::runtime::model {

/// Runs all blocks of a kernel. `parameters` as cuLaunchKernel has them: where each lies.
void run_kernel(DeviceKernel kernel, std::uint32_t blocks_x, std::uint32_t blocks_y,
                void* const* parameters, bool backwards);

/// Its memory is the CPU's. Device 1 runs threads backwards.
extern const DeviceKind model_devices;

/// As model_devices, without matrix kernels.
extern const DeviceKind model_devices_without_matrix;

/// a / b as kernels have it.
float divided(float a, float b);

}  // namespace axle::runtime::model
