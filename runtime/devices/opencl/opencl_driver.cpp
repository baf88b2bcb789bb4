#include "runtime/devices/opencl/opencl_driver.h"

#include <cstdio>

namespace axle::runtime {
namespace {

constexpr std::uint32_t most_platforms = 16;
constexpr std::uint32_t most_devices = 64;  // of a platform

}  // namespace

bool OpenclDriver::find_functions() {
  return library.find("clGetPlatformIDs", platforms) && library.find("clGetDeviceIDs", devices) &&
         library.find("clGetDeviceInfo", device_info) &&
         library.find("clCreateContext", create_context) &&
         library.find("clCreateCommandQueue", create_queue) &&
         library.find("clCreateProgramWithSource", create_program) &&
         library.find("clBuildProgram", build) &&
         library.find("clGetProgramBuildInfo", build_info) &&
         library.find("clCreateKernel", create_kernel) &&
         library.find("clSetKernelArg", set_argument) &&
         library.find("clEnqueueNDRangeKernel", enqueue_kernel) &&
         library.find("clCreateBuffer", create_buffer) &&
         library.find("clEnqueueWriteBuffer", enqueue_write) &&
         library.find("clEnqueueReadBuffer", enqueue_read) &&
         library.find("clReleaseMemObject", release_memory) &&
         library.find("clReleaseKernel", release_kernel) &&
         library.find("clReleaseProgram", release_program) &&
         library.find("clReleaseCommandQueue", release_queue) &&
         library.find("clReleaseContext", release_context);
}

bool OpenclDriver::load(char* problem, std::size_t size) {
  char reason[160];
  if (!library.open("libOpenCL.so.1", reason, sizeof reason)) {
    std::snprintf(problem, size,
                  "there is no OpenCL here (%s); install ocl-icd-libopencl1 and a driver, or use "
                  "'cpu'",
                  reason);
    return false;
  }
  if (!find_functions()) {
    std::snprintf(problem, size, "libOpenCL.so.1 lacks functions of OpenCL 1.2");
    return false;
  }
  Device first = nullptr;
  if (find_device(0, first)) return true;
  std::snprintf(problem, size,
                "OpenCL finds no device: install the driver of the GPU (on Debian "
                "intel-opencl-icd, mesa-opencl-icd, or pocl-opencl-icd for the CPU)");
  return false;
}

bool OpenclDriver::find_device(std::uint32_t number, Device& device) const {
  Platform found[most_platforms];
  std::uint32_t count = 0;
  if (platforms(most_platforms, found, &count) != success) return false;
  for (std::uint32_t p = 0; p < count && p < most_platforms; ++p) {
    Device own[most_devices];
    std::uint32_t own_count = 0;
    if (devices(found[p], all_devices, most_devices, own, &own_count) != success) continue;
    if (own_count > most_devices) own_count = most_devices;
    if (number < own_count) {
      device = own[number];
      return true;
    }
    number -= own_count;
  }
  return false;
}

}  // namespace axle::runtime
