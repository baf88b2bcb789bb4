#include "runtime/devices/cuda/cuda_code.h"

// devices/sources.cmake says where the fatbin is, what compiled it and for what.
#ifdef AXLE_CUDA_FATBIN
// In the sections in which nvcc would put it, so that tools find it: cuobjdump, `variant audit`.
asm(".pushsection .nv_fatbin, \"a\", @progbits\n"
    ".balign 8\n"
    "axle_cuda_fatbin:\n"
    ".incbin \"" AXLE_CUDA_FATBIN
    "\"\n"
    ".balign 8\n"
    ".popsection\n"
    ".pushsection .nvFatBinSegment, \"aw\", @progbits\n"
    ".balign 8\n"
    "axle_cuda_segment:\n"
    ".long 0x466243b1, 1\n"
    ".quad axle_cuda_fatbin, 0\n"
    ".popsection\n");

extern "C" [[gnu::visibility("hidden")]] const char axle_cuda_segment[];
#endif

namespace axle::runtime {

const CudaCode& cuda_code() {
#ifdef AXLE_CUDA_FATBIN
  struct Segment {
    unsigned magic;
    unsigned version;
    const void* fatbin;
    const void* other;
  };
  static const CudaCode code{reinterpret_cast<const Segment*>(axle_cuda_segment)->fatbin,
                             AXLE_CUDA_TOOLKIT, AXLE_CUDA_TARGETS};
#else
  static constexpr CudaCode code{nullptr, 0, ""};
#endif
  return code;
}

}  // namespace axle::runtime
