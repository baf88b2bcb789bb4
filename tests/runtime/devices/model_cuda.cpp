// A libcuda.so.1 for tests: two GPUs whose kernels are the models (model_kernels.h). It is as
// strict as a driver can be: without a current context nothing works, and memory that is not given
// back ends the program. AXLE_MODEL_CUDA in the environment says what is wrong with it: no_device,
// old_driver, no_code, broken.

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <map>
#include <string_view>
#include <vector>

#include "runtime/devices/cuda/cuda_driver.h"
#include "tests/runtime/devices/model_kernels.h"

using axle::runtime::CudaDriver;
using axle::runtime::device_kernel;
using axle::runtime::device_kernels;
using axle::runtime::DeviceKernel;

namespace {

enum Result : int {
  success = 0,
  invalid_value = 1,
  out_of_memory = 2,
  not_initialised = 3,
  no_device = 100,
  invalid_device = 101,
  invalid_context = 201,
  no_code = 209,
  illegal_address = 700,
};

constexpr std::uint64_t memory_bytes = 64U << 20U;

struct ModelContext {
  int device;
  int uses;
  std::map<std::uint64_t, std::size_t> memories;
};

bool initialised = false;
ModelContext contexts[2] = {{0, 0, {}}, {1, 0, {}}};
thread_local std::vector<ModelContext*> current;

bool is_wrong(std::string_view what) {
  const char* const said = std::getenv("AXLE_MODEL_CUDA");
  return said != nullptr && said == what;
}

std::size_t used(const ModelContext& context) {
  std::size_t sum = 0;
  for (const auto& [memory, bytes] : context.memories) sum += bytes;
  return sum;
}

CudaDriver::Context handle_of(ModelContext* context) {
  return reinterpret_cast<CudaDriver::Context>(context);
}

/// Whether all of it is memory of the device, or none.
bool is_plain(std::uint64_t address, std::size_t bytes) {
  for (const auto& [memory, size] : current.back()->memories) {
    if (address >= memory && address < memory + size) return address + bytes <= memory + size;
  }
  return true;
}

}  // namespace

extern "C" {

int cuInit(unsigned flags) {
  if (flags != 0) return invalid_value;
  if (is_wrong("no_device")) return no_device;
  initialised = true;
  return success;
}

int cuDriverGetVersion(int* version) {
  *version = is_wrong("old_driver") ? 12040 : 13000;
  return success;
}

int cuGetErrorString(int error, const char** text) {
  *text = error == illegal_address ? "an illegal memory access was encountered" : "an error";
  return success;
}

int cuDeviceGetCount(int* count) {
  if (!initialised) return not_initialised;
  *count = 2;
  return success;
}

int cuDeviceGet(int* device, int ordinal) {
  if (ordinal < 0 || ordinal > 1) return invalid_device;
  *device = ordinal;
  return success;
}

int cuDeviceGetName(char* name, int size, int device) {
  std::snprintf(name, static_cast<std::size_t>(size), "Model %d", device);
  return success;
}

int cuDeviceGetAttribute(int* value, int attribute, int /*device*/) {
  *value = attribute == 75 ? 9 : 0;
  return success;
}

int cuDevicePrimaryCtxRetain(CudaDriver::Context* context, int device) {
  *context = handle_of(&contexts[device]);
  ++contexts[device].uses;
  return success;
}

int cuDevicePrimaryCtxRelease_v2(int device) {
  ModelContext& context = contexts[device];
  if (context.uses == 1 && !context.memories.empty()) {
    std::fprintf(stderr, "%zu memories of the device were not given back\n",
                 context.memories.size());
    std::abort();
  }
  --context.uses;
  return success;
}

int cuCtxPushCurrent_v2(CudaDriver::Context context) {
  current.push_back(reinterpret_cast<ModelContext*>(context));
  return success;
}

int cuCtxPopCurrent_v2(CudaDriver::Context* context) {
  if (current.empty()) return invalid_context;
  *context = handle_of(current.back());
  current.pop_back();
  return success;
}

int cuMemGetInfo_v2(std::size_t* free_bytes, std::size_t* total) {
  if (current.empty()) return invalid_context;
  *total = memory_bytes;
  *free_bytes = memory_bytes - used(*current.back());
  return success;
}

int cuModuleLoadData(CudaDriver::Module* module, const void* image) {
  if (current.empty()) return invalid_context;
  if (image == nullptr) return invalid_value;
  if (is_wrong("no_code")) return no_code;
  *module = reinterpret_cast<CudaDriver::Module>(current.back());
  return success;
}

int cuModuleUnload(CudaDriver::Module module) {
  return current.empty() || module == nullptr ? 201 : success;
}

int cuModuleGetFunction(CudaDriver::Function* function, CudaDriver::Module /*module*/,
                        const char* name) {
  for (std::size_t i = 0; i < device_kernels; ++i) {
    const auto& row = device_kernel(static_cast<DeviceKernel>(i));
    if (std::strcmp(name, row.name) != 0) continue;
    *function =
        reinterpret_cast<CudaDriver::Function>(const_cast<axle::runtime::DeviceKernelRow*>(&row));
    return success;
  }
  return 500;
}

int cuMemAlloc_v2(std::uint64_t* memory, std::size_t bytes) {
  if (current.empty()) return invalid_context;
  if (bytes == 0) return invalid_value;
  ModelContext& context = *current.back();
  if (used(context) + bytes > memory_bytes) return out_of_memory;
  void* const found = std::malloc(bytes);
  std::memset(found, 0xa5, bytes);
  *memory = reinterpret_cast<std::uintptr_t>(found);
  context.memories[*memory] = bytes;
  return success;
}

int cuMemFree_v2(std::uint64_t memory) {
  if (current.empty() || current.back()->memories.erase(memory) != 1) return invalid_value;
  std::free(reinterpret_cast<void*>(memory));
  return success;
}

int cuMemcpy(std::uint64_t to, std::uint64_t from, std::size_t bytes) {
  if (current.empty() || !is_plain(to, bytes) || !is_plain(from, bytes)) return invalid_value;
  std::memcpy(reinterpret_cast<void*>(to), reinterpret_cast<const void*>(from), bytes);
  return success;
}

int cuLaunchKernel(CudaDriver::Function function, unsigned blocks_x, unsigned blocks_y,
                   unsigned blocks_z, unsigned threads_x, unsigned threads_y, unsigned threads_z,
                   unsigned shared, CudaDriver::Stream stream, void** parameters, void** extra) {
  if (current.empty()) return invalid_context;
  if (is_wrong("broken")) return illegal_address;
  const auto* const row = reinterpret_cast<const axle::runtime::DeviceKernelRow*>(function);
  const std::size_t kernel = static_cast<std::size_t>(row - &device_kernel(DeviceKernel::quantise));
  if (threads_x != row->threads || threads_y != 1 || threads_z != 1 || blocks_z != 1 ||
      blocks_x == 0 || blocks_y == 0 || blocks_y > 65535 || shared != 0 || stream != nullptr ||
      extra != nullptr)
    return invalid_value;
  axle::runtime::model::run_kernel(static_cast<DeviceKernel>(kernel), blocks_x, blocks_y,
                                   parameters, current.back()->device == 1);
  return success;
}

int cuStreamSynchronize(CudaDriver::Stream stream) {
  return stream == nullptr ? success : invalid_value;
}
}
