#pragma once
// The code of devices/code for NVIDIA's GPUs, as this library has it.

#include <cstddef>

namespace axle::runtime {

struct CudaCode {
  const void* fatbin;   ///< null: this library was built without a CUDA compiler
  int toolkit;          ///< that compiled it, as drivers count: 13000 is 13.0
  const char* targets;  ///< "8.0, 9.0, 10.0"
};

[[nodiscard]] const CudaCode& cuda_code();

}  // namespace axle::runtime
