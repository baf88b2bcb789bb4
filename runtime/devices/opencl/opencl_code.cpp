#include "runtime/devices/opencl/opencl_code.h"

// devices/sources.cmake says where the two files are.
asm(".pushsection .rodata\n"
    "axle_opencl_begin:\n"
    ".incbin \"" AXLE_OPENCL_DIALECT
    "\"\n"
    ".incbin \"" AXLE_OPENCL_STEPS
    "\"\n"
    "axle_opencl_end:\n"
    ".popsection\n");

extern "C" {
[[gnu::visibility("hidden")]] extern const char axle_opencl_begin[];
[[gnu::visibility("hidden")]] extern const char axle_opencl_end[];
}

namespace axle::runtime {

OpenclCode opencl_code() {
  return {axle_opencl_begin, static_cast<std::size_t>(axle_opencl_end - axle_opencl_begin)};
}

}  // namespace axle::runtime
