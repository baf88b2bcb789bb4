#include "tests/runtime/devices/model_kernels.h"

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <iterator>

#include "tests/runtime/devices/model_dialect.h"

namespace axle::runtime::model {
namespace {

// NOLINTBEGIN: in the language that CUDA, OpenCL and C++ have in common
#include "runtime/devices/code/linear_steps.h"
#include "runtime/devices/code/matrix_steps.h"
// NOLINTEND

template <class T>
T parameter(void* const* parameters, int i) {
  T value;
  std::memcpy(&value, parameters[i], sizeof value);
  return value;
}

void quantise(void* const* p) {
  axle_quantise(parameter<const uchar*>(p, 0), parameter<uint*>(p, 1), parameter<float*>(p, 2),
                parameter<uint>(p, 3), parameter<uint>(p, 4), parameter<uint>(p, 5),
                parameter<uint>(p, 6), parameter<uint>(p, 7));
}

template <auto kernel>
void multiply(void* const* p) {
  kernel(parameter<const uint*>(p, 0), parameter<const uchar*>(p, 1), parameter<const float*>(p, 2),
         parameter<const float*>(p, 3), parameter<const uint*>(p, 4), parameter<const float*>(p, 5),
         parameter<float*>(p, 6), parameter<uint>(p, 7), parameter<uint>(p, 8),
         parameter<uint>(p, 9), parameter<uint>(p, 10), parameter<uint>(p, 11),
         parameter<uint>(p, 12));
}

constexpr void (*kernels[device_kernels])(void* const*) = {
    quantise,
    multiply<axle_multiply_int8>,
    multiply<axle_multiply_int4>,
    multiply<axle_multiply_two_level>,
    multiply<axle_matrix_int8>,
    multiply<axle_matrix_int4>,
    multiply<axle_matrix_two_level>,
};

// --- a kind of devices ---------------------------------------------------------------------------

constexpr std::size_t most_arguments = 16;

struct State {
  bool backwards;
};

bool describe(std::uint32_t number, DeviceFacts& facts) {
  facts = {};
  std::snprintf(facts.description, sizeof facts.description, "a model");
  return number < 2;
}

axle_status open(std::uint32_t number, void*& state, axle_error* /*error*/) {
  state = new State{number == 1};
  return AXLE_OK;
}

void close(void* state) { delete static_cast<State*>(state); }

axle_status allocate(void* /*state*/, std::size_t bytes, std::uint64_t& memory,
                     axle_error* /*error*/) {
  void* const found = std::malloc(bytes);
  std::memset(found, 0xa5, bytes);
  memory = reinterpret_cast<std::uintptr_t>(found);
  return AXLE_OK;
}

void* address(std::uint64_t memory) { return reinterpret_cast<void*>(memory); }

void release(void* /*state*/, std::uint64_t memory) { std::free(address(memory)); }

axle_status write(void* /*state*/, std::uint64_t memory, const void* from, std::size_t bytes,
                  axle_error* /*error*/) {
  std::memcpy(address(memory), from, bytes);
  return AXLE_OK;
}

axle_status launch(void* state, const DeviceLaunch& launch, axle_error* /*error*/) {
  std::uint32_t numbers[most_arguments];
  std::uint64_t memories[most_arguments];
  void* parameters[most_arguments];
  for (std::size_t i = 0; i < launch.arguments.size(); ++i) {
    memories[i] = launch.arguments[i].value;
    numbers[i] = static_cast<std::uint32_t>(launch.arguments[i].value);
    parameters[i] = launch.arguments[i].is_memory ? static_cast<void*>(&memories[i]) : &numbers[i];
  }
  run_kernel(launch.kernel, launch.blocks_x, launch.blocks_y, parameters,
             static_cast<State*>(state)->backwards);
  return AXLE_OK;
}

axle_status read(void* /*state*/, std::uint64_t memory, void* to, std::size_t bytes,
                 axle_error* /*error*/) {
  std::memcpy(to, address(memory), bytes);
  return AXLE_OK;
}

}  // namespace

void run_kernel(DeviceKernel kernel, std::uint32_t blocks_x, std::uint32_t blocks_y,
                void* const* parameters, bool backwards) {
  for (std::uint32_t y = 0; y < blocks_y; ++y) {
    for (std::uint32_t x = 0; x < blocks_x; ++x) {
      block_of_threads = {.x = x, .y = y, .backwards = backwards};
      kernels[static_cast<std::size_t>(kernel)](parameters);
    }
  }
}

float divided(float a, float b) { return axle_divide(a, b); }

constinit const DeviceKind model_devices{.name = "model",
                                         .least_matrix_rows = 5,
                                         .describe = describe,
                                         .open = open,
                                         .close = close,
                                         .allocate = allocate,
                                         .release = release,
                                         .write = write,
                                         .launch = launch,
                                         .read = read};

constinit const DeviceKind model_devices_without_matrix{.name = "model",
                                                        .least_matrix_rows = 0,
                                                        .describe = describe,
                                                        .open = open,
                                                        .close = close,
                                                        .allocate = allocate,
                                                        .release = release,
                                                        .write = write,
                                                        .launch = launch,
                                                        .read = read};

}  // namespace axle::runtime::model
