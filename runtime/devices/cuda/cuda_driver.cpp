#include "runtime/devices/cuda/cuda_driver.h"

#include <cstdio>

namespace axle::runtime {

bool CudaDriver::find_functions() {
  // Names with "_v2" are those that cuda.h means by the name without it.
  return library.find("cuInit", init) && library.find("cuDriverGetVersion", driver_version) &&
         library.find("cuGetErrorString", error_string) &&
         library.find("cuDeviceGetCount", device_count) && library.find("cuDeviceGet", device) &&
         library.find("cuDeviceGetName", device_name) &&
         library.find("cuDeviceGetAttribute", device_attribute) &&
         library.find("cuDevicePrimaryCtxRetain", retain_context) &&
         library.find("cuDevicePrimaryCtxRelease_v2", release_context) &&
         library.find("cuCtxPushCurrent_v2", push_context) &&
         library.find("cuCtxPopCurrent_v2", pop_context) &&
         library.find("cuMemGetInfo_v2", memory_info) &&
         library.find("cuModuleLoadData", load_module) &&
         library.find("cuModuleUnload", unload_module) &&
         library.find("cuModuleGetFunction", get_function) &&
         library.find("cuMemAlloc_v2", allocate) && library.find("cuMemFree_v2", release) &&
         library.find("cuMemcpy", copy) && library.find("cuLaunchKernel", launch) &&
         library.find("cuStreamSynchronize", synchronise);
}

const char* CudaDriver::text_of(Result result) const {
  const char* text = nullptr;
  if (error_string(result, &text) != success || text == nullptr) return "an unknown error";
  return text;
}

bool CudaDriver::start(char* problem, std::size_t size) {
  const Result result = init(0);
  if (result == success) return true;
  if (result == no_device) {
    std::snprintf(problem, size,
                  "NVIDIA's driver sees no GPU; look at nvidia-smi and CUDA_VISIBLE_DEVICES");
  } else if (result == not_initialised) {
    std::snprintf(problem, size,
                  "NVIDIA's driver was started before a fork(), and cannot be used in the child");
  } else {
    std::snprintf(problem, size, "NVIDIA's driver does not start: %s (%d)", text_of(result),
                  result);
  }
  return false;
}

bool CudaDriver::load(char* problem, std::size_t size) {
  char reason[160];
  if (!library.open("libcuda.so.1", reason, sizeof reason)) {
    std::snprintf(problem, size, "there is no NVIDIA driver here (%s); install it, or use 'cpu'",
                  reason);
    return false;
  }
  if (!find_functions()) {
    std::snprintf(problem, size, "libcuda.so.1 lacks functions of CUDA 11; update NVIDIA's driver");
    return false;
  }
  return start(problem, size);
}

}  // namespace axle::runtime
