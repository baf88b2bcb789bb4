#pragma once
// What a device is to a layer: memory of its own and kernels (devices/code) that are launched. One
// kind of devices is one driver: plain data and function pointers, like a kernel set.

#include <cstddef>
#include <cstdint>
#include <span>

#include "runtime/axle_runtime.h"

namespace axle::runtime {

/// Of devices/code, in this order.
enum class DeviceKernel : std::uint8_t {
  quantise,
  multiply_int8,
  multiply_int4,
  multiply_two_level,
  matrix_int8,
  matrix_int4,
  matrix_two_level,
};
inline constexpr std::size_t device_kernels = 7;

/// How many threads a block of this kernel has, and what it is called in devices/code.
struct DeviceKernelRow {
  const char* name;
  std::uint32_t threads;
};
[[nodiscard]] const DeviceKernelRow& device_kernel(DeviceKernel kernel);

/// Memory of a device, or a number.
struct DeviceArgument {
  bool is_memory;
  std::uint64_t value;
};

struct DeviceLaunch {
  DeviceKernel kernel;
  std::uint32_t blocks_x;
  std::uint32_t blocks_y;
  std::span<const DeviceArgument> arguments;
};

/// What is known of a device without using it.
struct DeviceFacts {
  char description[128];  ///< "NVIDIA H100 80GB HBM3, compute capability 9.0, driver for CUDA 13.0"
  char problem[252];      ///< why it cannot be used here; empty: it can
};

/// All but `describe` and `open` are called by one thread at a time, with what `open` made.
struct DeviceKind {
  const char* name;  ///< "cuda"
  /// From so many rows on the matrix kernels are used; 0: there are none.
  std::size_t least_matrix_rows;
  /// Of device `number`; false: there is none. Number 0 of a kind that has no device here says why.
  bool (*describe)(std::uint32_t number, DeviceFacts& facts);
  axle_status (*open)(std::uint32_t number, void*& state, axle_error* error);
  void (*close)(void* state);
  axle_status (*allocate)(void* state, std::size_t bytes, std::uint64_t& memory, axle_error* error);
  void (*release)(void* state, std::uint64_t memory);
  axle_status (*write)(void* state, std::uint64_t memory, const void* from, std::size_t bytes,
                       axle_error* error);
  /// Launches run in their order, and before what is read afterwards.
  axle_status (*launch)(void* state, const DeviceLaunch& launch, axle_error* error);
  axle_status (*read)(void* state, std::uint64_t memory, void* to, std::size_t bytes,
                      axle_error* error);
};

/// Those that this library has.
[[nodiscard]] std::span<const DeviceKind* const> device_kinds();

}  // namespace axle::runtime
