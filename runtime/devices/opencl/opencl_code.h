#pragma once
// The kernels of devices/code as OpenCL C.

#include <cstddef>

namespace axle::runtime {

struct OpenclCode {
  const char* text;
  std::size_t size;
};

[[nodiscard]] OpenclCode opencl_code();

}  // namespace axle::runtime
